import { LIMITS, memberApi, workspaceApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestService, type TestService } from './test-service.ts';

describe('workspaces', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const newKey = (): string => `w-${randomUUID().slice(0, 18)}`;

  it('are created with their creator as owner and can be read after the answer [workspaces.record.fields, workspaces.by-slug.url-key, workspaces.create.answer]', async () => {
    const ada = await testService.person();
    const body = { name: 'Ada’s 𝒲orkspace', urlKey: newKey(), logoUrl: 'https://example.com/logo.png' };
    const made = await testService.call(ada, workspaceApi.createWorkspace, { body });
    assert.equal(made.status, 201);
    const { workspace } = made.body;
    assert.deepEqual({ ...body, role: 'owner' }, pick(workspace, 'name', 'urlKey', 'logoUrl', 'role'));

    const listed = await testService.call(ada, workspaceApi.listWorkspaces, {});
    assert.deepEqual(listed.body.workspaces, [workspace]);
    const bare = { ...body, urlKey: newKey(), logoUrl: null };
    const without = await testService.call(await testService.person(), workspaceApi.createWorkspace, { body: bare });
    assert.deepEqual([without.status, without.body.workspace.logoUrl], [201, null]);
    const found = await testService.call(ada, workspaceApi.getWorkspaceBySlug, { params: { slug: body.urlKey } });
    assert.deepEqual(found.body.workspace, workspace);
    const members = await testService.call(ada, memberApi.listMembers, { params: { workspaceId: workspace.id } });
    assert.deepEqual(
      members.body.members.map((member) => pick(member, 'userId', 'role', 'email')),
      [{ userId: ada.userId, role: 'owner', email: ada.email }],
    );
  });

  it('have the time zone that their creator gives, and UTC without one', async () => {
    const ada = await testService.person();
    const create = (more: object) =>
      testService.call(ada, workspaceApi.createWorkspace, { body: { name: 'W', urlKey: newKey(), ...more } });
    const made = [await create({ timeZone: 'Europe/Berlin' }), await create({})];
    const zones = await testService.backends.sql(`select id, time_zone from sync.workspaces where id = any($1)`, [
      made.map(({ body }) => body.workspace.id),
    ]);
    const zoneOf = new Map(zones.map((row) => [row['id'], row['time_zone']]));
    assert.deepEqual(
      made.map(({ body }) => zoneOf.get(body.workspace.id)),
      ['Europe/Berlin', 'UTC'],
    );
    const unknown = await create({ timeZone: 'Mars/Base' });
    assert.equal(unknown.code, 'validation_failed');
    assert.match(unknown.message ?? '', /timeZone/);
  });

  it('refuse a urlKey that is taken, also by the same person [errors.409.conflict, workspaces.create.taken]', async () => {
    const { urlKey, owner } = await testService.workspace();
    for (const who of [owner, await testService.person()]) {
      const again = await testService.call(who, workspaceApi.createWorkspace, { body: { name: 'Again', urlKey } });
      assert.equal(again.code, 'slug_taken');
    }
    const listed = await testService.call(owner, workspaceApi.listWorkspaces, {});
    assert.equal(listed.body.workspaces.length, 1);
  });

  it('with the same urlKey in parallel requests are created once, without remains of the others [workspaces.create.taken]', async () => {
    const urlKey = newKey();
    const people = await Promise.all(Array.from({ length: 8 }, () => testService.person()));
    const answers = await Promise.all(
      people.map((who) => testService.call(who, workspaceApi.createWorkspace, { body: { name: 'Race', urlKey } })),
    );
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
    const counts = await Promise.all(
      people.map(async (who) => (await testService.call(who, workspaceApi.listWorkspaces, {})).body.workspaces.length),
    );
    assert.deepEqual(
      counts,
      answers.map(({ status }) => (status === 201 ? 1 : 0)),
    );
  });

  it('are limited in number per owner', async () => {
    const { owner } = await testService.workspace();
    await testService.backends.sqlAs('wts_sync')(
      `insert into sync.workspace_members (id, user_id, role, created_at, updated_at, workspace_id, group_id, record)
       select gen_random_uuid(), $1, 'owner', now(), now(), gen_random_uuid(), gen_random_uuid(), '{}'
       from generate_series(2, $2::int)`,
      [owner.userId, LIMITS.workspacesOwnedMax],
    );
    const refused = await testService.call(owner, workspaceApi.createWorkspace, {
      body: { name: 'More', urlKey: newKey() },
    });
    assert.equal(refused.code, 'conflict');
  });

  it('are in the log, for their owner, before the answer [workspaces.create.through-log]', async () => {
    const { id, owner } = await testService.workspace();
    const entries = await testService.backends.sql(
      `select model, action, group_id, actor_id from sync.sync_actions where workspace_id = $1 order by sync_id`,
      [id],
    );
    const actor = { action: 'INSERT', actor_id: owner.userId };
    assert.deepEqual(entries.slice(0, 1), [{ model: 'Workspace', group_id: id, ...actor }]);
    for (const group of [id, owner.userId]) {
      const heard = entries.filter(({ model, group_id }) => model === 'WorkspaceMember' && group_id === group);
      assert.deepEqual(heard, [{ model: 'WorkspaceMember', group_id: group, ...actor }]);
    }
  });

  it('refuse invalid names and urlKeys, and name the broken rule [workspaces.create.name, workspaces.create.url-key, workspaces.create.logo-url, limits.workspace.url-key, errors.400.validation]', async () => {
    const ada = await testService.person();
    const bad: readonly (readonly [field: string, body: Record<string, unknown>])[] = [
      ['name', { name: '' }],
      ['name', { name: '   ' }],
      ['name', { name: 'x'.repeat(101) }],
      ['urlKey', { urlKey: 'ab' }],
      ['urlKey', { urlKey: 'a'.repeat(51) }],
      ['urlKey', { urlKey: 'Upper' }],
      ['urlKey', { urlKey: 'a_b' }],
      ['urlKey', { urlKey: 'a b' }],
      ['urlKey', { urlKey: 'abc\n' }],
      ['urlKey', { urlKey: 'аdmin-cyrillic' }],
      ['logoUrl', { logoUrl: '/logo.png' }],
      ['logoUrl', { logoUrl: 'javascript:alert(1)' }],
      ['logoUrl', { logoUrl: 'https://example.com/a\r\nb' }],
      ['extra', { extra: 1 }],
    ];
    for (const [field, change] of bad) {
      const body = { name: 'Fine', urlKey: newKey(), ...change };
      const refused = await testService.call(ada, workspaceApi.createWorkspace, { body });
      assert.equal(refused.code, 'validation_failed', JSON.stringify(change));
      assert.match(refused.text, new RegExp(field), JSON.stringify(change));
    }
  });

  it('accept any urlKey of lowercase letters, digits and hyphens, also names of API paths [workspaces.create.url-key]', async () => {
    const ada = await testService.person();
    for (const urlKey of [
      'a--b',
      '-ab',
      'ab-',
      '---',
      '123',
      'api',
      'by-slug',
      'support',
      'new',
      'docs',
      'x'.repeat(50),
    ]) {
      const made = await testService.call(ada, workspaceApi.createWorkspace, { body: { name: 'Fine', urlKey } });
      assert.equal(made.status, 201, made.text);
      const found = await testService.call(ada, workspaceApi.getWorkspaceBySlug, { params: { slug: urlKey } });
      assert.equal(found.body.workspace.id, made.body.workspace.id);
    }
  });

  it('count the length of a name in code points [limits.workspace.name]', async () => {
    const ada = await testService.person();
    const name = '𝒲'.repeat(100);
    const made = await testService.call(ada, workspaceApi.createWorkspace, { body: { name, urlKey: newKey() } });
    assert.equal(made.body.workspace.name, name);
  });

  it('get 404 for callers who are not members [workspaces.list.own-only, workspaces.by-slug.outsider-404]', async () => {
    const { id, urlKey, owner } = await testService.workspace();
    const eve = await testService.person();
    const slugs = [urlKey, urlKey.toUpperCase(), newKey(), 'ẃ-look-alike', '\u202e'];
    for (const slug of slugs) {
      const found = await testService.call(eve, workspaceApi.getWorkspaceBySlug, { params: { slug } });
      assert.equal(found.code, 'not_found', slug);
      assert.ok(!found.text.includes(id));
    }
    const workspaceId = id;
    assert.equal((await testService.call(eve, memberApi.listMembers, { params: { workspaceId } })).code, 'not_found');
    assert.equal(
      (await testService.call(eve, memberApi.listInvitations, { params: { workspaceId } })).code,
      'not_found',
    );
    const invited = await testService.call(eve, memberApi.createInvitation, { params: { workspaceId }, body: {} });
    assert.equal(invited.code, 'not_found');
    for (const userId of [owner.userId, eve.userId, randomUUID()]) {
      const removed = await testService.call(eve, memberApi.removeMember, { params: { workspaceId, userId } });
      assert.equal(removed.code, 'not_found');
    }
    assert.deepEqual((await testService.call(eve, workspaceApi.listWorkspaces, {})).body.workspaces, []);
  });

  it('get 404 for a credential that is limited to another workspace', async () => {
    const first = await testService.workspace();
    const second = await testService.call(first.owner, workspaceApi.createWorkspace, {
      body: { name: 'Second', urlKey: newKey() },
    });
    const restricted = { ...first.owner.principal, workspaceId: first.id };
    const listed = await testService.call(restricted, workspaceApi.listWorkspaces, {});
    assert.deepEqual(
      listed.body.workspaces.map(({ id }) => id),
      [first.id],
    );
    const other = second.body.workspace;
    const slug = { params: { slug: other.urlKey } };
    assert.equal((await testService.call(restricted, workspaceApi.getWorkspaceBySlug, slug)).code, 'not_found');
    const members = { params: { workspaceId: other.id } };
    assert.equal((await testService.call(restricted, memberApi.listMembers, members)).code, 'not_found');
    const body = { name: 'Third', urlKey: newKey() };
    assert.equal((await testService.call(restricted, workspaceApi.createWorkspace, { body })).code, 'forbidden');
  });

  it('require the scope before any other check [authentication.scopes.workspaces]', async () => {
    const { id: workspaceId, owner, urlKey } = await testService.workspace();
    const readOnly = { ...owner.principal, scopes: ['read'] as const };
    const writer = { ...owner.principal, scopes: ['read', 'write'] as const };
    const [invitationId, userId] = [randomUUID(), 'no id'];
    for (const principal of [readOnly, writer]) {
      const answers = [
        await testService.call(principal, workspaceApi.createWorkspace, { body: {} as never }),
        await testService.call(principal, memberApi.joinWorkspace, { body: {} as never }),
        await testService.call(principal, memberApi.createInvitation, {
          params: { workspaceId },
          body: { expiresInDays: 0 },
        }),
        await testService.call(principal, memberApi.deleteInvitation, { params: { workspaceId, invitationId } }),
        await testService.call(principal, memberApi.removeMember, { params: { workspaceId, userId } }),
      ];
      assert.deepEqual(
        answers.map(({ code }) => code),
        Array.from(answers, () => 'insufficient_scope'),
      );
    }
    const params = { workspaceId };
    const reads = [
      await testService.call(readOnly, workspaceApi.listWorkspaces, {}),
      await testService.call(readOnly, workspaceApi.getWorkspaceBySlug, { params: { slug: urlKey } }),
      await testService.call(readOnly, memberApi.listMembers, { params }),
      await testService.call(readOnly, memberApi.listInvitations, { params }),
    ];
    assert.deepEqual(
      reads.map(({ status }) => status),
      [200, 200, 200, 200],
    );
  });
});

function pick<T extends object, K extends keyof T>(from: T, ...keys: K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}

import { sessionOf, type TestPerson } from '@wts/testkit';
import { accessApi, apiKeyApi, type WorkspaceEvent } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { openTestService, type TestService } from './test-service.ts';

type Query = Readonly<Record<string, string>>;

describe('the access to a workspace', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const sql = (text: string, values: readonly unknown[]): Promise<Record<string, unknown>[]> =>
    testService.backends.sql(text, values);
  const addEvent = async (
    { userId }: TestPerson,
    event: { kind: string; workspaceId?: string; details?: object; age?: string },
  ): Promise<void> => {
    const { kind, workspaceId = null, details = {}, age = '0 seconds' } = event;
    await sql(
      `insert into auth.events (id, at, kind, user_id, workspace_id, actor, actor_id, network, browser, details)
        values (gen_random_uuid(), clock_timestamp() - cast($1 as interval), $2, $3::uuid, $4, 'person', $3::text, '192.0.2.7', 'Firefox', $5)`,
      [age, kind, userId, workspaceId, JSON.stringify(details)],
    );
  };
  const addGrant = async ({ userId }: TestPerson, workspaceId: string | null): Promise<string> => {
    const id = randomUUID();
    await sql(
      `insert into auth.grants (id, user_id, client_id, client_name, scopes, resources, signed_in_at, used_at, expires_at, workspace_id)
        values ($1, $2, 'a client', 'Notes', '{read}', '{https://api.example}', now(), now(), now() + interval '1 day', $3)`,
      [id, userId, workspaceId],
    );
    await sql(
      `insert into auth.codes (hash, grant_id, redirect_uri, challenge, expires_at) values ($1, $2, 'https://notes.example/cb', '', now())`,
      [randomBytes(32), id],
    );
    return id;
  };
  const eventsIn = async (who: TestPerson, workspaceId: string, query: Query = {}): Promise<WorkspaceEvent[]> => {
    const answer = await testService.call(who, accessApi.listSecurityEvents, { params: { workspaceId }, query });
    assert.equal(answer.status, 200, answer.text);
    return [...answer.body.events];
  };

  it('is shown to owners and admins with the scope admin, and to no one else [workspaces.access.members, workspaces.access.events, workspaces.access.apps]', async () => {
    const { id: workspaceId, owner, admin, member } = await testService.workspace('admin', 'member');
    const stranger = await testService.person();
    for (const contract of [accessApi.listAccess, accessApi.listSecurityEvents, accessApi.listApps]) {
      const statusFor = async (who: Parameters<TestService['call']>[0]): Promise<number> =>
        (await testService.call(who, contract, { params: { workspaceId } })).status;
      const reader = { ...sessionOf(owner.userId), scopes: ['read', 'write'] as const };
      const elsewhere = { ...sessionOf(owner.userId), workspaceId: randomUUID() };
      assert.deepEqual(
        await Promise.all([owner, admin, member, stranger, reader, elsewhere].map(statusFor)),
        [200, 200, 403, 404, 403, 404],
        contract.id,
      );
    }
  });

  it('lists the members with their sign-in and the numbers of their keys and apps there, a page at a time [workspaces.access.members]', async () => {
    const { id: workspaceId, owner, member } = await testService.workspace('member');
    const other = await testService.workspace();
    await testService.addMember(other.id, member.userId, 'member');
    for (const limited of [workspaceId, undefined, other.id]) {
      const body = {
        label: 'ci',
        permissions: 'read-only',
        ...(limited === undefined ? {} : { workspaceId: limited }),
      } as const;
      assert.equal((await testService.call(member, apiKeyApi.internalCreateApiKey, { body })).status, 201);
      await addGrant(member, limited ?? null);
    }
    await addEvent(member, { kind: 'sign-in', details: { way: 'with a password' } });
    const page = (query: Query) => testService.call(owner, accessApi.listAccess, { params: { workspaceId }, query });
    const { members, hasMore } = (await page({})).body;
    assert.equal(hasMore, false);
    const found = members.find(({ userId }) => userId === member.userId);
    assert.deepEqual(
      [found?.role, found?.emailVerified, found?.signsInWith, found?.hasSecondFactor, found?.apiKeys, found?.apps],
      ['member', true, ['provider'], null, 2, 2],
    );
    assert.ok(Date.parse(found?.lastSignInAt ?? '') > Date.now() - 60_000);
    assert.equal(members.find(({ userId }) => userId === owner.userId)?.lastSignInAt, null);
    const first = (await page({ limit: '1' })).body;
    const second = (await page({ limit: '1', after: first.members[0]?.userId ?? '' })).body;
    assert.deepEqual([first.hasMore, second.hasMore], [true, false]);
    assert.deepEqual([...first.members, ...second.members], members);
  });

  it('says of people with a password whether it alone is enough, and of people of a provider nothing [workspaces.access.members]', async () => {
    const { id: workspaceId, owner, member, admin } = await testService.workspace('member', 'admin');
    const accountOf = async ({ userId, email }: TestPerson): Promise<string> => {
      const id = randomUUID();
      const account = `insert into auth.accounts (id, email, shown_email, name, password_hash) values ($1, $2, $2, 'Ada', 'x')`;
      await sql(account, [id, `${id}@example.com`]);
      await sql(
        `insert into auth.identities (identity_hash, issuer, subject, user_id, email) values ($1, 'wts:accounts', $2, $3, $4)`,
        [randomBytes(32), id, userId, email],
      );
      return id;
    };
    await accountOf(member);
    const protectedId = await accountOf(admin);
    await sql(`insert into auth.totp (account_id, secret, sealed_with, last_step) values ($1, 'x', 'x', 0)`, [
      protectedId,
    ]);
    const { members } = (await testService.call(owner, accessApi.listAccess, { params: { workspaceId } })).body;
    const of = ({ userId }: TestPerson) => members.find((one) => one.userId === userId);
    assert.deepEqual(
      [owner, member, admin].map((one) => of(one)?.hasSecondFactor),
      [null, false, true],
    );
    assert.deepEqual(of(admin)?.signsInWith, ['password', 'provider']);
  });

  it('has the events of members, without those for other workspaces, from before they joined, and their places and labels [workspaces.access.events]', async () => {
    const { id: workspaceId, owner, member } = await testService.workspace('member');
    const stranger = await testService.person();
    const details = { label: 'secret project', prefix: 'wts_12345678', access: 'read-only' };
    await addEvent(member, { kind: 'sign-in', details: { way: 'with a password' }, age: '1 hour' });
    await addEvent(member, { kind: 'key-created', details });
    await addEvent(member, { kind: 'key-created', details, workspaceId });
    await addEvent(member, { kind: 'key-created', details, workspaceId: randomUUID() });
    await addEvent(member, { kind: 'factor-added', details: { factor: 'the passkey phone of Ada' } });
    await addEvent(member, { kind: 'session-ended', details: { browser: 'Firefox' } });
    await addEvent(stranger, { kind: 'sign-in', details: { way: 'with a password' } });
    const events = await eventsIn(owner, workspaceId);
    assert.deepEqual(
      events.map(({ text, network, browser }) => [text, network, browser]),
      [
        ['Added a passkey as a second factor', null, null],
        ['Created the API key “secret project”', '192.0.2.7', 'Firefox'],
        ['Created the API key “wts_12345678…”', null, null],
        ...events.slice(3).map(({ text }) => [text, null, null]),
      ],
    );
    assert.deepEqual(
      events
        .slice(3)
        .map(({ text }) => text)
        .toSorted(),
      ['Joined as member', 'Joined as owner'],
    );
  });

  it('has who joined, got another role and left, from the log [workspaces.access.events]', async () => {
    const { id: workspaceId, owner, member } = await testService.workspace('member');
    const membership = 'select id from sync.workspace_members where workspace_id = $1 and user_id = $2';
    const [row] = await testService.backends.sqlAs('wts_sync')(membership, [workspaceId, member.userId]);
    await testService.commit([
      { modelName: 'WorkspaceMember', modelId: String(row?.['id']), action: 'UPDATE', payload: { role: 'admin' } },
    ]);
    const changed = await eventsIn(owner, workspaceId);
    assert.deepEqual(
      [changed[0]?.kind, changed[0]?.text, changed[0]?.userId],
      ['member-role-changed', 'Got the role admin', member.userId],
    );
    await testService.removeMember(workspaceId, member);
    const [left] = await eventsIn(owner, workspaceId);
    assert.deepEqual([left?.kind, left?.userId], ['member-left', member.userId]);
  });

  it('has each event once over all pages, newest first [workspaces.access.events]', async () => {
    const { id: workspaceId, owner, member } = await testService.workspace('member');
    for (let n = 0; n < 4; n += 1) {
      await addEvent(member, { kind: 'sign-in', details: { way: `${n}` } });
      await addEvent(owner, { kind: 'key-revoked', details: { label: `${n}`, prefix: 'wts_' }, workspaceId });
    }
    const all = await eventsIn(owner, workspaceId);
    assert.equal(all.length, 10);
    assert.deepEqual(
      all.map(({ at }) => at),
      all
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
    const read: WorkspaceEvent[] = [];
    let before: string | undefined;
    do {
      const query: Query = { limit: '3', ...(before === undefined ? {} : { before }) };
      const { body } = await testService.call(owner, accessApi.listSecurityEvents, { params: { workspaceId }, query });
      read.push(...body.events);
      before = body.next ?? undefined;
    } while (before !== undefined);
    assert.deepEqual(read, all);
    const bad = await testService.call(owner, accessApi.listSecurityEvents, {
      params: { workspaceId },
      query: { before: 'x' },
    });
    assert.equal(bad.status, 400);
  });

  it('of many members has the same events and apps, for the cost of a few calls of sync [workspaces.access.events, workspaces.access.apps]', async () => {
    const { id: workspaceId, owner, member } = await testService.workspace('member');
    const stranger = await testService.person();
    await addEvent(member, { kind: 'sign-in', details: { way: 'with a password' }, age: '1 hour' });
    for (const who of [member, stranger, owner]) {
      await addEvent(who, { kind: 'sign-in', details: { way: 'with a password' } });
      await addGrant(who, null);
    }
    await addEvent(owner, { kind: 'key-revoked', details: { label: 'ci', prefix: 'wts_' }, workspaceId });
    const read = async (): Promise<unknown[]> => {
      const { apps } = (await testService.call(owner, accessApi.listApps, { params: { workspaceId } })).body;
      const first = (
        await testService.call(owner, accessApi.listSecurityEvents, { params: { workspaceId }, query: { limit: '2' } })
      ).body;
      return [apps, first.events, await eventsIn(owner, workspaceId, { before: first.next ?? '' })];
    };
    const few = await read();
    await testService.backends.sqlAs('wts_sync')(MORE_MEMBERS, [workspaceId, member.userId]);
    assert.deepEqual(await read(), few);
  });

  it('lists apps with their host; an owner ends one that is limited to the workspace, and no other [workspaces.access.apps, workspaces.access.end-app]', async () => {
    const { id: workspaceId, owner, admin, member } = await testService.workspace('admin', 'member');
    const [limited, wide] = [await addGrant(member, workspaceId), await addGrant(member, null)];
    const elsewhere = await addGrant(member, randomUUID());
    const params = { workspaceId };
    const { apps } = (await testService.call(owner, accessApi.listApps, { params })).body;
    assert.deepEqual(
      apps.map(({ id, redirectHost, coversOtherWorkspaces }) => [id, redirectHost, coversOtherWorkspaces]),
      [[limited, 'notes.example', false] as const, [wide, 'notes.example', true] as const].toSorted(([a], [b]) =>
        a < b ? -1 : 1,
      ),
    );
    const end = (who: TestPerson, grantId: string) =>
      testService.call(who, accessApi.endApp, { params: { workspaceId, grantId } });
    for (const grantId of [wide, elsewhere, randomUUID()]) assert.equal((await end(owner, grantId)).status, 404);
    assert.equal((await end(admin, limited)).status, 403);
    const published = await testService.backends.revocations();
    assert.equal((await end(owner, limited)).status, 200);
    assert.deepEqual(await published.next(), { kind: 'credential', credentialId: limited, userId: member.userId });
    assert.equal((await end(owner, limited)).status, 404, 'it has ended already');
    const [ended] = await eventsIn(owner, workspaceId);
    assert.deepEqual([ended?.kind, ended?.userId, ended?.actorId], ['grant-ended', member.userId, owner.userId]);
  });
});

/** People like a member, in the same workspace, without an entry in the log. */
const MORE_MEMBERS = `with people as (
    insert into sync.users select (jsonb_populate_record(u, jsonb_build_object('id', gen_random_uuid()))).*
    from sync.users u, generate_series(1, 1005) where u.id = $2 returning id)
  insert into sync.workspace_members
    select (jsonb_populate_record(m, jsonb_build_object('id', gen_random_uuid(), 'user_id', people.id))).*
    from sync.workspace_members m, people where m.workspace_id = $1 and m.user_id = $2`;

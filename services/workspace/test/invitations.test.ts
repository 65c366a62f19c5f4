import { sessionOf, type TestPerson } from '@wts/testkit';
import { memberApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { openTestService, type TestService } from './test-service.ts';

describe('invitations', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const join = async (who: TestPerson, code: string): Promise<string> => {
    const answer = await testService.join(who, code);
    return answer.code ?? answer.body.role;
  };
  const pending = async (who: TestPerson, workspaceId: string): Promise<string[]> => {
    const { body } = await testService.call(who, memberApi.listInvitations, { params: { workspaceId } });
    return body.invitations.map(({ id }) => id);
  };
  const expire = (id: string): Promise<unknown> =>
    testService.backends.sql(
      `update workspace.invitations set expires_at = now() - interval '1 second' where id = $1`,
      [id],
    );

  it('have the role member and expire after a week by default [workspaces.invitations.list, workspaces.invitations.defaults, workspaces.invitations.code-once]', async () => {
    const { id, owner } = await testService.workspace();
    const { code, ...shown } = await testService.invite(owner, id, { email: null });
    assert.deepEqual(
      { workspaceId: shown.workspaceId, email: shown.email, role: shown.role, createdBy: shown.createdBy },
      { workspaceId: id, email: null, role: 'member', createdBy: owner.userId },
    );
    assert.equal(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt), 7 * 86_400_000);
    const listed = await testService.call(owner, memberApi.listInvitations, { params: { workspaceId: id } });
    assert.deepEqual(listed.body.invitations, [shown]);
    assert.ok(!listed.text.includes(code));
  });

  it('are created by a request without a body [workspaces.invitations.create]', async () => {
    const { id: workspaceId, owner } = await testService.workspace();
    const ask = () => testService.call(owner, memberApi.createInvitation, { params: { workspaceId }, body: undefined });
    const made = await ask();
    assert.equal(made.status, 201, made.text);
    assert.equal(made.body.invitation.role, 'member');
  });

  it('show their code only when they are created, and store only its hash [workspaces.invitations.code-once]', async () => {
    const { id, owner } = await testService.workspace();
    const { code, id: invitationId } = await testService.invite(owner, id, {});
    const [stored] = await testService.backends.sql(`select * from workspace.invitations where id = $1`, [
      invitationId,
    ]);
    assert.deepEqual(stored?.['code_hash'], createHash('sha256').update(code).digest());
    assert.ok(!JSON.stringify(stored).includes(code));
  });

  it('without an address admit any person with the code, any number of times [workspaces.join.code]', async () => {
    const { id, owner } = await testService.workspace();
    const { code, id: invitationId } = await testService.invite(owner, id, { role: 'guest' });
    for (let n = 0; n < 3; n += 1) assert.equal(await join(await testService.person(), code), 'guest');
    assert.deepEqual(await pending(owner, id), [invitationId]);
  });

  it('with an address admit one person once [workspaces.join.wrong-address]', async () => {
    const { id, owner } = await testService.workspace();
    const grace = await testService.person();
    const { code } = await testService.invite(owner, id, { email: grace.email.toUpperCase(), role: 'admin' });
    assert.equal(await join(await testService.person(), code), 'wrong_address');
    assert.equal(await join(grace, code), 'admin');
    assert.deepEqual(await pending(owner, id), []);
    const twin = await testService.person({ email: grace.email });
    assert.equal(await join(twin, code), 'invitation_expired');
  });

  it('to the address of a person who joined by one of them are all used then [workspaces.join.closes]', async () => {
    const { id, owner } = await testService.workspace();
    const elsewhere = await testService.workspace();
    const [grace, ada] = [await testService.person(), await testService.person()];
    const invite = async ({ email }: TestPerson) => testService.invite(owner, id, { email });
    const [first, second, other] = [await invite(grace), await invite(grace), await invite(ada)];
    const upper = await testService.invite(owner, id, { email: grace.email.toUpperCase() });
    const there = await testService.invite(elsewhere.owner, elsewhere.id, { email: grace.email });
    assert.equal(await join(grace, first.code), 'member');
    assert.deepEqual(await pending(owner, id), [other.id]);
    assert.deepEqual(await pending(elsewhere.owner, elsewhere.id), [there.id]);
    for (const { code } of [second, upper]) {
      assert.equal(await join(grace, code), 'member', 'joining twice changes nothing');
      assert.equal(await join(await testService.person({ email: grace.email }), code), 'invitation_expired');
    }
  });

  it('to a verified address of a person who joined by one for everybody are used then too [workspaces.join.closes]', async () => {
    const { id, owner } = await testService.workspace();
    const [grace, ada] = [await testService.person(), await testService.person()];
    await testService.invite(owner, id, { email: grace.email.toUpperCase() });
    const other = await testService.invite(owner, id, { email: ada.email });
    const open = await testService.invite(owner, id, {});
    assert.equal(await join(grace, open.code), 'member');
    assert.deepEqual((await pending(owner, id)).toSorted(), [other.id, open.id].toSorted());
    const claimant = await testService.person({ email: ada.email, emailVerified: false });
    assert.equal(await join(claimant, open.code), 'member');
    assert.deepEqual((await pending(owner, id)).toSorted(), [other.id, open.id].toSorted());
  });

  it('that were used do not admit a person again who left', async () => {
    const { id, owner } = await testService.workspace();
    const grace = await testService.person();
    const { code } = await testService.invite(owner, id, { email: grace.email });
    assert.equal(await join(grace, code), 'member');
    await testService.call(owner, memberApi.removeMember, { params: { workspaceId: id, userId: grace.userId } });
    assert.equal(await join(grace, code), 'invitation_expired');
  });

  it('change nothing for a member, not even the role [workspaces.join.twice]', async () => {
    const { id, owner, member } = await testService.workspace('member');
    const { code } = await testService.invite(owner, id, { role: 'admin' });
    const first = await testService.join(member, code);
    assert.deepEqual([first.status, first.body.role, first.body.workspace.id], [200, 'member', id]);
    assert.deepEqual((await testService.join(member, code)).body, first.body);
    assert.equal(await join(owner, code), 'owner');
  });

  it('refuse an address that its provider did not verify, also when the claim is missing [authentication.jwt.email-verified]', async () => {
    const { id, owner } = await testService.workspace();
    const email = `${randomUUID()}@example.com`;
    const { code } = await testService.invite(owner, id, { email });
    assert.equal(await join(await testService.person({ email, emailVerified: false }), code), 'wrong_address');
    assert.equal(await join(await testService.person({ email, emailVerified: null }), code), 'wrong_address');
    assert.equal(await join(await testService.person({ email, emailVerified: true }), code), 'member');
  });

  it('compare the latest address of the provider, and keep it when a token has no address', async () => {
    const { id, owner } = await testService.workspace();
    const [early, late] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
    const identity = { issuer: 'https://issuer.example', subject: randomUUID() };
    const seen = (claims: object) => testService.resolve({ ...identity, ...claims });
    const userId = await seen({ email: early, emailVerified: false });
    const grace = { userId, email: late, principal: sessionOf(userId) };
    const { code } = await testService.invite(owner, id, { email: early });
    await seen({ email: early });
    assert.equal(await join(grace, code), 'wrong_address');
    await seen({ email: late, emailVerified: true });
    await seen({});
    assert.equal(await join(grace, (await testService.invite(owner, id, { email: late })).code), 'member');
    assert.equal(await join(grace, code), 'wrong_address');
  });

  it('give the same answer for an unknown, a deleted and a malformed code [workspaces.join.unknown-code, workspaces.invitations.delete]', async () => {
    const { id, owner } = await testService.workspace();
    const { code, id: invitationId } = await testService.invite(owner, id, {});
    const params = { workspaceId: id, invitationId };
    assert.equal((await testService.call(owner, memberApi.deleteInvitation, { params })).status, 200);
    assert.equal((await testService.call(owner, memberApi.deleteInvitation, { params })).code, 'not_found');
    const eve = await testService.person();
    for (const tried of [code, 'x', 'x'.repeat(32), code.toLowerCase(), ` ${code}`, '%', '𝒞'])
      assert.equal(await join(eve, tried), 'not_found', tried);
    assert.equal(await join(eve, ''), 'validation_failed');
  });

  it('that expired get 410 and are not pending [workspaces.join.expired]', async () => {
    const { id, owner } = await testService.workspace();
    const { code, id: invitationId } = await testService.invite(owner, id, { expiresInDays: 1 });
    await expire(invitationId);
    assert.equal(await join(await testService.person(), code), 'invitation_expired');
    assert.deepEqual(await pending(owner, id), []);
    const params = { workspaceId: id, invitationId };
    assert.equal((await testService.call(owner, memberApi.deleteInvitation, { params })).code, 'not_found');
  });

  it('are created, seen and deleted only by owners and admins [workspaces.roles.manage, workspaces.invitations.list]', async () => {
    const { id, owner, admin, member, guest } = await testService.workspace('admin', 'member', 'guest');
    const { id: invitationId } = await testService.invite(admin, id, { role: 'admin' });
    assert.ok((await pending(owner, id)).includes(invitationId));
    for (const who of [member, guest]) {
      const params = { workspaceId: id };
      assert.equal((await testService.call(who, memberApi.listInvitations, { params })).code, 'forbidden');
      assert.equal((await testService.call(who, memberApi.createInvitation, { params, body: {} })).code, 'forbidden');
      const one = { params: { ...params, invitationId } };
      assert.equal((await testService.call(who, memberApi.deleteInvitation, one)).code, 'forbidden');
    }
  });

  it('of another workspace cannot be deleted from this one', async () => {
    const here = await testService.workspace();
    const there = await testService.workspace();
    const { id: invitationId } = await testService.invite(there.owner, there.id, {});
    const params = { workspaceId: here.id, invitationId };
    assert.equal((await testService.call(here.owner, memberApi.deleteInvitation, { params })).code, 'not_found');
    assert.deepEqual(await pending(there.owner, there.id), [invitationId]);
  });

  it('never grant the role owner, and refuse invalid fields [workspaces.invitations.create, limits.invitation.days]', async () => {
    const { id, owner } = await testService.workspace();
    const bad: readonly object[] = [
      { role: 'owner' },
      { role: 'Admin' },
      { expiresInDays: 0 },
      { expiresInDays: 366 },
      { expiresInDays: 1.5 },
      { expiresInDays: '7' },
      { email: 'not an address' },
      { email: '' },
      ...[
        'a@b',
        'a@localhost',
        '@example.com',
        'a@example.',
        'a b@example.com',
        'a@exam ple.com',
        'a@b@example.com',
      ].map((email) => ({ email })),
      { email: 'ada@example.com ' },
      { email: `${'a'.repeat(310)}@example.com` },
      { email: '<ada@example.com>' },
      { code: 'mine' },
      { __proto__: null, constructor: {} },
    ];
    for (const body of bad) {
      const refused = await testService.call(owner, memberApi.createInvitation, { params: { workspaceId: id }, body });
      assert.equal(refused.code, 'validation_failed', JSON.stringify(body));
    }
  });

  it('accept addresses in any script', async () => {
    const { id, owner } = await testService.workspace();
    for (const [invited, given] of [
      ['jörg@bücher.example', 'Jörg@xn--bcher-kva.example'],
      ['二ノ宮@黒川.日本', '二ノ宮@黒川.日本'],
      ["o'neil+wts@mail.example", "o'neil+wts@mail.example"],
    ] as const) {
      const { code } = await testService.invite(owner, id, { email: invited });
      assert.equal(await join(await testService.person({ email: given }), code), 'member', invited);
    }
  });

  it('are invalid once their creator may no longer invite', async () => {
    const { id, owner, admin } = await testService.workspace('admin');
    const { code, id: invitationId } = await testService.invite(admin, id, {});
    await testService.call(owner, memberApi.removeMember, { params: { workspaceId: id, userId: admin.userId } });
    assert.ok(!(await pending(owner, id)).includes(invitationId));
    assert.equal(await join(admin, code), 'not_found');
    assert.equal(await join(await testService.person(), code), 'not_found');
  });

  it('for one use admit one of several parallel attempts', async () => {
    const { id, owner } = await testService.workspace();
    const email = `${randomUUID()}@example.com`;
    const { code } = await testService.invite(owner, id, { email });
    const racers = await Promise.all(Array.from({ length: 8 }, () => testService.person({ email })));
    const outcomes = await Promise.all(racers.map((who) => join(who, code)));
    assert.deepEqual(
      outcomes.filter((outcome) => outcome !== 'invitation_expired'),
      ['member'],
    );
    const members = await testService.call(owner, memberApi.listMembers, { params: { workspaceId: id } });
    assert.equal(members.body.members.length, 2);
  });

  it('create one membership for parallel requests of one person', async () => {
    const { id, owner } = await testService.workspace();
    const grace = await testService.person();
    for (const invitation of [{}, { email: grace.email }]) {
      const { code } = await testService.invite(owner, id, invitation);
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => join(grace, code)));
      assert.deepEqual(new Set(outcomes), new Set(['member']));
    }
    const members = await testService.call(owner, memberApi.listMembers, { params: { workspaceId: id } });
    assert.equal(members.body.members.length, 2);
  });

  it('can be redeemed by the same person after an attempt that broke off', async () => {
    const { id, owner } = await testService.workspace();
    const email = `${randomUUID()}@example.com`;
    const grace = await testService.person({ email });
    const { code, id: invitationId } = await testService.invite(owner, id, { email });
    await testService.backends.sql(`update workspace.invitations set claimed_by = $2 where id = $1`, [
      invitationId,
      grace.userId,
    ]);
    assert.equal(await join(await testService.person({ email }), code), 'invitation_expired');
    assert.equal(await join(grace, code), 'member');
  });

  it('cannot be redeemed with a credential for one workspace, nor without the scope admin [authentication.scopes.workspaces]', async () => {
    const { id, owner } = await testService.workspace();
    const { code } = await testService.invite(owner, id, {});
    const grace = await testService.person();
    const restricted = { ...grace.principal, workspaceId: randomUUID() };
    assert.equal((await testService.call(restricted, memberApi.joinWorkspace, { body: { code } })).code, 'forbidden');
    const writer = { ...grace.principal, scopes: ['read', 'write'] as const };
    assert.equal(
      (await testService.call(writer, memberApi.joinWorkspace, { body: { code } })).code,
      'insufficient_scope',
    );
  });

  it('count the wrong codes of a person once, for every operation and exactly over replicas [limits.rate.codes]', async () => {
    const other = await testService.replica({});
    try {
      const { id, owner } = await testService.workspace();
      const { code } = await testService.invite(owner, id, {});
      const eve = await testService.person();
      const wrong = (n: number): Promise<{ readonly status: number; readonly text: string }> => {
        const at = n % 2 === 0 ? testService : other;
        const body = { code: `wrong ${n}` };
        if (n % 3 === 0) return at.call(eve, memberApi.joinWorkspace, { body });
        if (n % 3 === 1) return at.call(eve, memberApi.internalReadInvitation, { body });
        return at.call(eve, memberApi.internalJoinWorkspace, { body: { ...body, address: null } });
      };
      // Right codes do not count.
      for (const at of [testService, other])
        assert.equal((await at.call(eve, memberApi.internalReadInvitation, { body: { code } })).status, 200);
      const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => wrong(n)));
      assert.equal(answers.filter(({ status }) => status === 404).length, 30);
      for (const { status, text } of answers.filter((one) => one.status !== 404)) {
        assert.equal(status, 429, text);
        const { retryAfterSeconds } = JSON.parse(text) as { retryAfterSeconds: number };
        assert.ok(retryAfterSeconds > 0 && retryAfterSeconds <= 60, text);
      }
      assert.equal(
        (await testService.join(eve, code)).status,
        429,
        'a right code, too, so that no answer tells which one is',
      );
      assert.equal((await testService.join(await testService.person(), code)).status, 200, 'another person');
      await testService.backends.sql(`update workspace.wrong_codes set ends_at = now() where user_id = $1`, [
        eve.userId,
      ]);
      assert.equal((await testService.join(eve, code)).status, 200, 'after the minute');
    } finally {
      await other.service.close();
    }
  });
});

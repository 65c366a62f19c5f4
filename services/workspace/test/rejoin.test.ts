import { HEADERS, memberApi, type MutateReply, type Role } from '@wts/contracts';
import { Roles } from '@wts/read-model';
import { commitUnitSender, createServiceClient } from '@wts/service-kit/call';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { minterFor, type TestPerson } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { joinWorkspace } from '../src/commands/join-workspace.ts';
import { invitationStore } from '../src/store/invitations.ts';
import { workspaceReads } from '../src/store/workspaces.ts';
import { wrongCodeStore } from '../src/store/wrong-codes.ts';
import { openTestService, type TestService } from './test-service.ts';

describe('an invitation code from before a removal or a demotion', () => {
  let testService: TestService;
  before(async () => (testService = await openTestService()));

  const join = async (who: TestPerson, code: string): Promise<string> => {
    const answer = await testService.join(who, code);
    return answer.code ?? answer.body.role;
  };
  const remove = async (who: TestPerson, workspaceId: string, whom: TestPerson): Promise<void> => {
    const params = { workspaceId, userId: whom.userId };
    const answer = await testService.call(who, memberApi.removeMember, { params });
    assert.equal(answer.status, 200, answer.text);
  };
  /** Calls the sync routes, without this service. */
  const mutate = async (who: TestPerson, ...changes: readonly object[]): Promise<void> => {
    const mint = minterFor('gateway', 'sync');
    const transactions = changes.map((change) => ({
      clientTxId: randomUUID(),
      clientId: 'test',
      modelName: 'WorkspaceMember',
      ...change,
    }));
    const answer = await fetch(new URL('/sync/mutate', testService.backends.syncUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', [HEADERS.principal]: mint(who.principal) },
      body: JSON.stringify({ batchId: 'b', transactions }),
    });
    const reply = (await answer.json()) as MutateReply;
    assert.ok(reply.success, JSON.stringify(reply));
  };
  const membershipOf = async (workspaceId: string, { userId }: TestPerson): Promise<string> => {
    const sql = `select id from sync.workspace_members where workspace_id = $1 and user_id = $2`;
    return (await testService.backends.sql(sql, [workspaceId, userId]))[0]?.['id'] as string;
  };
  const giveRole = async (who: TestPerson, workspaceId: string, whom: TestPerson, role: Role): Promise<void> =>
    mutate(who, { modelId: await membershipOf(workspaceId, whom), action: 'UPDATE', payload: { role } });
  const joined = async (role: 'admin' | 'guest') => {
    const { id, owner } = await testService.workspace();
    const grace = await testService.person();
    const { code } = await testService.invite(owner, id, { role });
    assert.equal(await join(grace, code), role);
    return { id, owner, grace, code };
  };

  /** What the command needs, on the database and the sync service of the tests. */
  const openJoinContext = (stack: AsyncDisposableStack) => {
    const log = createLogger({ name: 'test', level: 'warn' });
    const { databaseUrl: url, syncUrl } = testService.backends;
    const { knex, pool } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack });
    const mintToken = minterFor('workspace', 'sync');
    const sync = createServiceClient({ name: 'sync', urls: [syncUrl], self: 'workspace', mintToken, log });
    stack.defer(() => sync.close());
    return {
      roles: new Roles(pool),
      workspaces: workspaceReads(knex),
      invitations: invitationStore(knex),
      wrongCodes: wrongCodeStore(knex),
      wrongCodesPerMinuteMax: 30,
      addressesOf: async () => [],
      checkJoining: async () => {},
      commitUnit: commitUnitSender(sync),
    };
  };

  it('does not admit a removed person, also after they joined by another code and left [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await joined('admin');
    await remove(owner, id, grace);
    const refused = await testService.join(grace, code);
    assert.deepEqual([refused.status, refused.code], [410, 'invitation_expired']);
    assert.match(refused.text, /Ask for a new one/);
    assert.equal(await join(await testService.person(), code), 'admin');
    assert.equal(await join(grace, (await testService.invite(owner, id, { role: 'guest' })).code), 'guest');
    assert.equal(await join(grace, code), 'guest');
    await remove(grace, id, grace);
    assert.equal(await join(grace, code), 'invitation_expired');
  });

  it('does not admit a person removed through the sync routes, also after the log was trimmed [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await joined('admin');
    await mutate(owner, { modelId: await membershipOf(id, grace), action: 'DELETE', payload: {} });
    await testService.backends.sqlAs('wts_sync')(
      `delete from sync.sync_actions where workspace_id = $1
      and sync_id < (select max(sync_id) from sync.sync_actions)`,
      [id],
    );
    assert.equal(await join(grace, code), 'invitation_expired');
  });

  it('does not restore a lowered role to a person who left [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await joined('admin');
    await giveRole(owner, id, grace, 'guest');
    assert.equal(await join(grace, code), 'guest');
    await remove(grace, id, grace);
    assert.equal(await join(grace, code), 'invitation_expired');
    assert.equal(await join(grace, (await testService.invite(owner, id, { role: 'member' })).code), 'member');
  });

  it('does not restore a role that was lowered in the same batch as the person left [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await joined('guest');
    await giveRole(owner, id, grace, 'admin');
    const modelId = await membershipOf(id, grace);
    const { code: higher } = await testService.invite(owner, id, { role: 'admin' });
    const to = (role: Role): object => ({ modelId, action: 'UPDATE', payload: { role } });
    await mutate(grace, to('guest'), { modelId, action: 'DELETE', payload: {} });
    for (const old of [code, higher]) assert.equal(await join(grace, old), 'invitation_expired');
  });

  it('with an address, not yet used, does not admit a removed person [workspaces.join.after-loss]', async () => {
    const { id, owner, grace } = await joined('guest');
    const { code } = await testService.invite(owner, id, { role: 'admin', email: grace.email });
    await remove(owner, id, grace);
    assert.equal(await join(grace, code), 'invitation_expired');
    assert.equal(await join(grace, (await testService.invite(owner, id, { email: grace.email })).code), 'member');
  });

  it('admits a person again who left by themselves, also after they got a higher role', async () => {
    const { id, owner, grace, code } = await joined('guest');
    await giveRole(owner, id, grace, 'admin');
    await remove(grace, id, grace);
    assert.equal(await join(grace, code), 'guest');
    await remove(grace, id, grace);
    assert.equal(await join(grace, code), 'guest');
  });

  it('admits other people, and a person who was removed from another workspace', async () => {
    const { id, owner, grace, code } = await joined('guest');
    const elsewhere = await testService.workspace();
    const invitation = await testService.invite(elsewhere.owner, elsewhere.id, {});
    await remove(owner, id, grace);
    assert.equal(await join(grace, invitation.code), 'member');
    assert.equal(await join(await testService.person(), code), 'guest');
  });

  it('does not admit by a request that was checked before the removal and is committed after it [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await joined('admin');
    const other = await testService.invite(owner, id, { role: 'admin' });
    await remove(grace, id, grace);
    await using stack = new AsyncDisposableStack();
    const context = openJoinContext(stack);
    const isChecked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const late = joinWorkspace(
      {
        ...context,
        commitUnit: async (unit) => {
          isChecked.resolve();
          await gate.promise;
          return context.commitUnit(unit);
        },
      },
      grace.principal,
      { code },
    );
    await isChecked.promise;
    assert.equal(await join(grace, other.code), 'admin');
    await remove(owner, id, grace);
    gate.resolve();
    await assert.rejects(late, { code: 'invitation_expired' });
    assert.equal(await membershipOf(id, grace), undefined);
  });

  it('answers a member who joins again by a code for everybody without the service of addresses', async () => {
    const { id, owner, grace } = await joined('guest');
    const { code } = await testService.invite(owner, id, { role: 'admin' });
    await using stack = new AsyncDisposableStack();
    const context = {
      ...openJoinContext(stack),
      addressesOf: () => Promise.reject(new Error('the service of addresses does not answer')),
    };
    const { role } = await joinWorkspace(context, grace.principal, { code });
    assert.equal(role, 'guest');
  });
});

describe('the answer of a removal', () => {
  it('lists the open invitations to a caller who may delete them [workspaces.members.remove-names-codes]', async () => {
    const testService = await openTestService();
    const { id, owner, admin, member, guest } = await testService.workspace('admin', 'member', 'guest');
    const params = { workspaceId: id };
    const before = await testService.call(owner, memberApi.listInvitations, { params });
    const ended = before.body.invitations.map((invitation) =>
      testService.call(owner, memberApi.deleteInvitation, { params: { ...params, invitationId: invitation.id } }),
    );
    await Promise.all(ended);
    const open = await testService.invite(owner, id, { role: 'admin' });
    const named = await testService.invite(owner, id, { email: 'grace@example.com' });
    await testService.invite(admin, id, { role: 'admin' });
    const left = await testService.call(member, memberApi.removeMember, {
      params: { ...params, userId: member.userId },
    });
    assert.deepEqual(left.body.openInvitations, []);
    assert.equal(
      (await testService.call(guest, memberApi.removeMember, { params: { ...params, userId: admin.userId } })).code,
      'forbidden',
    );
    // The invitations of the removed admin are not open any more.
    const answer = await testService.call(owner, memberApi.removeMember, {
      params: { ...params, userId: admin.userId },
    });
    assert.deepEqual(
      answer.body.openInvitations,
      [named, open].map(({ id: invitationId, role, email, expiresAt }) => ({
        id: invitationId,
        role,
        email,
        expiresAt,
      })),
    );
    for (const { code } of [open, named]) assert.ok(!answer.text.includes(code));
  });
});

import { tokenMinter } from '@wts/access';
import type { MutateReply, Role } from '@wts/contracts';
import { HEADERS, memberApi } from '@wts/contracts';
import { Roles } from '@wts/read-model';
import { createServiceClient } from '@wts/service-kit/call';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { commitUnitSender } from '../src/commands/commit-unit.ts';
import { joinWorkspace } from '../src/commands/join-workspace.ts';
import { identityStore } from '../src/store/identities.ts';
import { invitationStore } from '../src/store/invitations.ts';
import { workspaceReads } from '../src/store/workspaces.ts';
import { SECRET } from './stage.ts';
import type { Person, TestService } from './test-service.ts';
import { openTestService } from './test-service.ts';

const mint = tokenMinter({ from: 'gateway', to: 'sync', secret: SECRET });

describe('a code made before a removal or a demotion', () => {
  let testService: TestService;
  before(async () => {
    testService = await openTestService();
  });

  const join = async (who: Person, code: string): Promise<string> => {
    const answer = await testService.join(who, code);
    return answer.code ?? answer.body.role;
  };
  const remove = async (who: Person, workspaceId: string, whom: Person): Promise<void> => {
    const params = { workspaceId, userId: whom.userId };
    const answer = await testService.ask(who, memberApi.removeMember, { params });
    assert.equal(answer.status, 200, answer.text);
  };
  /** Through the sync routes, past this service. */
  const mutate = async (who: Person, ...changes: readonly object[]): Promise<void> => {
    const transactions = changes.map((change) => ({
      clientTxId: randomUUID(),
      clientId: 'test',
      modelName: 'WorkspaceMember',
      ...change,
    }));
    const answer = await fetch(new URL('/sync/mutate', testService.stage.syncUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', [HEADERS.principal]: mint(who.principal) },
      body: JSON.stringify({ batchId: 'b', transactions }),
    });
    const reply = (await answer.json()) as MutateReply;
    assert.ok(reply.success, JSON.stringify(reply));
  };
  const membershipOf = async (workspaceId: string, { userId }: Person): Promise<string> => {
    const sql = `select id from sync.workspace_members where workspace_id = $1 and user_id = $2`;
    return (await testService.stage.sql(sql, [workspaceId, userId]))[0]?.['id'] as string;
  };
  const giveRole = async (who: Person, workspaceId: string, whom: Person, role: Role): Promise<void> =>
    mutate(who, { modelId: await membershipOf(workspaceId, whom), action: 'UPDATE', payload: { role } });
  const admitted = async (role: 'admin' | 'guest') => {
    const { id, owner } = await testService.workspace();
    const grace = await testService.person();
    const { code } = await testService.invite(owner, id, { role });
    assert.equal(await join(grace, code), role);
    return { id, owner, grace, code };
  };

  it('does not bring back who was removed, nor after they left by another code [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await admitted('admin');
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

  it('does not bring back who was removed through the sync routes, whatever is left of the log [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await admitted('admin');
    await mutate(owner, { modelId: await membershipOf(id, grace), action: 'DELETE', payload: {} });
    await testService.stage.asSync(
      `delete from sync.sync_actions where workspace_id = $1
      and sync_id < (select max(sync_id) from sync.sync_actions)`,
      [id],
    );
    assert.equal(await join(grace, code), 'invitation_expired');
  });

  it('does not give a role back that was lowered, to who leaves and comes again [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await admitted('admin');
    await giveRole(owner, id, grace, 'guest');
    assert.equal(await join(grace, code), 'guest');
    await remove(grace, id, grace);
    assert.equal(await join(grace, code), 'invitation_expired');
    assert.equal(await join(grace, (await testService.invite(owner, id, { role: 'member' })).code), 'member');
  });

  it('does not give a role back that was lowered and left within one batch [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await admitted('guest');
    await giveRole(owner, id, grace, 'admin');
    const modelId = await membershipOf(id, grace);
    const { code: higher } = await testService.invite(owner, id, { role: 'admin' });
    const to = (role: Role): object => ({ modelId, action: 'UPDATE', payload: { role } });
    await mutate(grace, to('guest'), { modelId, action: 'DELETE', payload: {} });
    for (const old of [code, higher]) assert.equal(await join(grace, old), 'invitation_expired');
  });

  it('does not admit who was removed when it was sent by mail and never used [workspaces.join.after-loss]', async () => {
    const { id, owner, grace } = await admitted('guest');
    const { code } = await testService.invite(owner, id, { role: 'admin', email: grace.email });
    await remove(owner, id, grace);
    assert.equal(await join(grace, code), 'invitation_expired');
    assert.equal(await join(grace, (await testService.invite(owner, id, { email: grace.email })).code), 'member');
  });

  it('admits again who left of their own will, and who was given a higher role in between', async () => {
    const { id, owner, grace, code } = await admitted('guest');
    await giveRole(owner, id, grace, 'admin');
    await remove(grace, id, grace);
    assert.equal(await join(grace, code), 'guest');
    await remove(grace, id, grace);
    assert.equal(await join(grace, code), 'guest');
  });

  it('says nothing to others: it goes on admitting who lost nothing, and who lost another workspace', async () => {
    const { id, owner, grace, code } = await admitted('guest');
    const elsewhere = await testService.workspace();
    const context = await testService.invite(elsewhere.owner, elsewhere.id, {});
    await remove(owner, id, grace);
    assert.equal(await join(grace, context.code), 'member');
    assert.equal(await join(await testService.person(), code), 'guest');
  });

  it('does not bring back by a request that was judged before the removal and is committed after it [workspaces.join.after-loss]', async () => {
    const { id, owner, grace, code } = await admitted('admin');
    const other = await testService.invite(owner, id, { role: 'admin' });
    await remove(grace, id, grace);
    await using stack = new AsyncDisposableStack();
    const log = createLogger({ name: 'test', level: 'warn' });
    const { databaseUrl: url, syncUrl } = testService.stage;
    const { knex, pool } = openPostgres({ url, poolMax: 2, applicationName: 'test', log, stack });
    const sync = createServiceClient({ name: 'sync', urls: [syncUrl], secret: SECRET, self: 'workspace', log });
    stack.defer(() => sync.close());
    const commitUnit = commitUnitSender(sync);
    const judged = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const late = joinWorkspace(
      {
        roles: new Roles(pool),
        workspaces: workspaceReads(knex),
        invitations: invitationStore(knex),
        identities: identityStore(knex),
        commitUnit: async (unit, trace) => {
          judged.resolve();
          await gate.promise;
          return commitUnit(unit, trace);
        },
      },
      grace.principal,
      code,
      {},
    );
    await judged.promise;
    assert.equal(await join(grace, other.code), 'admin');
    await remove(owner, id, grace);
    gate.resolve();
    await assert.rejects(late, { code: 'invitation_expired' });
    assert.equal(await membershipOf(id, grace), undefined);
  });
});

describe('the answer of a removal', () => {
  it('names the codes that stay open, to who may end them [workspaces.members.remove-names-codes]', async () => {
    const testService = await openTestService();
    const { id, owner, admin, member, guest } = await testService.workspace('admin', 'member', 'guest');
    const params = { workspaceId: id };
    const before = await testService.ask(owner, memberApi.listInvitations, { params });
    const ended = before.body.invitations.map((invitation) =>
      testService.ask(owner, memberApi.deleteInvitation, { params: { ...params, invitationId: invitation.id } }),
    );
    await Promise.all(ended);
    const open = await testService.invite(owner, id, { role: 'admin' });
    const named = await testService.invite(owner, id, { email: 'grace@example.com' });
    await testService.invite(admin, id, { role: 'admin' });
    const left = await testService.ask(member, memberApi.removeMember, {
      params: { ...params, userId: member.userId },
    });
    assert.deepEqual(left.body.openInvitations, []);
    assert.equal(
      (await testService.ask(guest, memberApi.removeMember, { params: { ...params, userId: admin.userId } })).code,
      'forbidden',
    );
    // Those of who was removed end with them.
    const answer = await testService.ask(owner, memberApi.removeMember, {
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

import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { createLogger } from '@wts/service-kit/observe';
import { openPostgres, rows } from '@wts/service-kit/postgres';
import { testDatabase } from '@wts/testkit';
import type { Knex } from 'knex';
import { invitationStore, type InvitationStore } from './invitations.ts';

describe('the stores', () => {
  const stack = new AsyncDisposableStack();
  let knex: Knex;
  before(async () => {
    const url = stack.use(await testDatabase('stores', { migrated: true })).urlOf('wts_workspace');
    const log = createLogger({ name: 'test', level: 'warn' });
    ({ knex } = openPostgres({ url, poolMax: 4, applicationName: 'test', log, stack }));
  });
  after(() => stack.disposeAsync());

  it('cannot write the tables of the sync service, nor read those of the auth service', async () => {
    for (const sql of [
      `update sync.workspace_members set role = 'owner'`,
      `insert into sync.task_counters values (gen_random_uuid(), 1)`,
      `delete from sync.sync_actions`,
      `create table sync.mine (id int)`,
      `select * from auth.api_keys`,
    ]) {
      await assert.rejects(rows(knex, sql), /permission denied|does not exist/, sql);
    }
  });

  describe('of invitations', () => {
    let invitations: InvitationStore;
    before(() => (invitations = invitationStore(knex)));

    const insert = (workspaceId: string, pendingMax = 10): ReturnType<InvitationStore['insert']> =>
      invitations.insert(
        {
          id: randomUUID(),
          workspaceId,
          email: 'grace@example.com',
          role: 'member',
          codeHash: randomBytes(32),
          createdBy: randomUUID(),
          expiresInDays: 7,
        },
        pendingMax,
      );

    it('gives a claim to one person, who may claim it again until it is redeemed', async () => {
      const id = (await insert(randomUUID()))?.id ?? '';
      const [ada, grace] = [randomUUID(), randomUUID()];
      assert.deepEqual(
        [await invitations.claim(id, ada), await invitations.claim(id, grace), await invitations.claim(id, ada)],
        [true, false, true],
      );
      await invitations.release(id, grace);
      assert.equal(await invitations.claim(id, grace), false);
      await invitations.release(id, ada);
      assert.equal(await invitations.claim(id, grace), true);
      await invitations.markRedeemed([id], grace);
      await invitations.release(id, grace);
      assert.equal(await invitations.claim(id, grace), false);
    });

    it('gives no claim to a deleted invitation', async () => {
      const workspaceId = randomUUID();
      const id = (await insert(workspaceId))?.id ?? '';
      assert.equal(await invitations.delete(randomUUID(), id), false);
      assert.equal(await invitations.delete(workspaceId, id), true);
      assert.equal(await invitations.claim(id, randomUUID()), false);
    });

    it('moves them to another cell with their codes and the exact times, as often as it is repeated', async () => {
      const [workspaceId, other] = [randomUUID(), randomUUID()];
      for (let n = 0; n < 3; n += 1) await insert(workspaceId);
      const first = await invitations.page(workspaceId, { limit: 2 });
      const moved = [...first, ...(await invitations.page(workspaceId, { after: first.at(-1)!.id, limit: 2 }))];
      assert.equal(moved.length, 3);
      await assert.rejects(invitations.put(other, moved, false), /[Cc]onflict/);
      await invitations.delete(workspaceId, moved[0]!.id);
      await insert(workspaceId);
      for (let n = 0; n < 2; n += 1) await invitations.put(workspaceId, moved, n === 0);
      assert.deepEqual(await invitations.page(workspaceId, { limit: 10 }), moved);
    });

    it('counts only pending ones against the limit, and deletes those that expired long ago', async () => {
      const workspaceId = randomUUID();
      const id = (await insert(workspaceId, 1))?.id ?? '';
      assert.equal(await insert(workspaceId, 1), null);
      const age = `update workspace.invitations set expires_at = now() - interval '91 days' where id = :id`;
      await rows(knex, age, { id });
      assert.ok(await insert(workspaceId, 1));
      await invitations.deleteExpired(workspaceId, 90);
      const left = await rows(knex, `select id from workspace.invitations where workspace_id = :workspaceId`, {
        workspaceId,
      });
      assert.equal(left.length, 1);
    });
  });
});

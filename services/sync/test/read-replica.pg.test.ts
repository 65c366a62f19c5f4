import assert from 'node:assert/strict';
import { Client } from 'pg';
import { TestSyncService } from './test-sync-service.ts';

/**
 * The replica is a second database, copied from the first and not updated: a replica that is far behind. Its tasks are marked,
 * so that the tests recognize what it served.
 */
describe('a database replica', () => {
  let sync: TestSyncService;
  let admin: Client;
  let replica: string;
  let ada: string;
  let bob: string;
  let home: string;
  let taskId: string;

  /** Each sets the people and records of one test, because the replica has only what was written before it was copied. */
  const written: (() => void)[] = [];

  before(async function () {
    sync = await TestSyncService.open('read-replica');
    for (const _ of this.test?.parent?.tests ?? []) {
      const [one, other] = [await sync.person('Ada'), await sync.person('Bob')];
      const workspaceId = await sync.workspace(one);
      const task = await sync.insert('Task', { workspaceId, title: 'Written before' }, one);
      written.push(() => ([ada, bob, home, taskId] = [one, other, workspaceId, task]));
    }
    replica = `${sync.database.name}_replica`;
    admin = new Client({ connectionString: sync.database.adminUrl });
    await admin.connect();
    await sync.restart(async () => {
      await admin.query(`create database ${replica} template ${sync.database.name}`);
      await inReplica(
        `update sync.tasks set record = (replace(record::text, 'Written before', 'From the replica'))::json`,
      );
      await inReplica(
        `update sync.sync_actions set record = (replace(record::text, 'Written before', 'From the replica'))::json`,
      );
      const url = new URL(sync.database.urlOf('wts_sync'));
      url.pathname = replica;
      return { DATABASE_REPLICA_URL: url.href };
    });
  });

  beforeEach(() => written.pop()?.());
  after(async () => {
    await sync[Symbol.asyncDispose]();
    await admin.query(`drop database if exists ${replica} with (force)`);
    await admin.end();
  });

  async function inReplica(sql: string): Promise<void> {
    const url = new URL(sync.database.url);
    url.pathname = replica;
    const client = new Client({ connectionString: url.href });
    await client.connect();
    await client.query(sql);
    await client.end();
  }

  const titles = async (userId = ada): Promise<string[]> => {
    const { rows } = await sync.bootstrap(userId, { onlyModels: 'Task' });
    return rows.map(({ title }) => title as string).sort();
  };
  const byKey = async (more: object = {}): Promise<unknown[]> => {
    const rows = await sync.batch(ada, [{ modelName: 'Task', indexedKey: 'id', keyValue: taskId }], more);
    return rows.map(({ title }) => title);
  };

  const polled = async (after: string, userId = ada): Promise<unknown[]> => {
    const { actions } = await sync.deltas(userId, { after });
    return actions.filter(({ modelName }) => modelName === 'Task').map(({ data }) => data['title']);
  };

  it('serves what it has of a page of deltas; the rest is read from the primary [sync.deltas.replica]', async () => {
    assert.deepEqual(await polled('0'), ['From the replica']);
    await sync.insert('Task', { workspaceId: home, title: 'Written after' }, ada);
    assert.deepEqual(await polled('0'), ['From the replica', 'Written after']);
    const { actions, hasMore, lastSyncId } = await sync.deltas(ada, { after: '0', limit: '2' });
    assert.deepEqual([actions.length, hasMore, lastSyncId], [2, true, actions[1]?.syncId]);
  });

  it('is read when it lacks only changes of others', async () => {
    assert.deepEqual(await titles(), ['From the replica']);
    assert.deepEqual(await byKey(), ['From the replica']);
    await sync.workspace(bob);
    assert.deepEqual(await titles(), ['From the replica']);
    const { metadata } = await sync.bootstrap(ada);
    const { rows } = await sync.sql.query<{ head: string }>('select max(sync_id)::text as head from sync.sync_actions');
    assert.ok(BigInt(metadata.lastSyncId) < BigInt(rows[0]?.head ?? 0), 'it answers up to its own horizon');
  });

  it('is not read when it lacks changes that the caller could have made or lost', async () => {
    await sync.insert('Task', { workspaceId: home, title: 'Written after' }, ada);
    assert.deepEqual(await titles(), ['Written after', 'Written before']);
    assert.deepEqual(await byKey(), ['Written before']);
  });

  it('is not read for a person whose memberships changed after its position', async () => {
    await sync.join(bob, home);
    assert.deepEqual(await titles(bob), ['Written before']);
  });

  it('is not read when it is behind the position that the caller names', async () => {
    await sync.workspace(bob);
    const { rows } = await sync.sql.query<{ head: string }>('select max(sync_id)::text as head from sync.sync_actions');
    const firstSyncId = rows[0]?.head ?? '';
    assert.deepEqual(await byKey({ firstSyncId }), ['Written before']);
    const { metadata } = await sync.bootstrap(ada, { firstSyncId });
    assert.equal(metadata.lastSyncId, firstSyncId);
  });

  it('of another epoch is never read', async () => {
    const { rows } = await sync.sql.query<{ epoch: string }>('select epoch::text from sync.log_state');
    try {
      await inReplica('update sync.log_state set epoch = gen_random_uuid()');
      assert.deepEqual(await titles(), ['Written before']);
      assert.deepEqual(await polled('0'), ['Written before']);
    } finally {
      await inReplica(`update sync.log_state set epoch = '${rows[0]?.epoch}'`);
    }
  });
});

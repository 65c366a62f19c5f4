import { eventually, type Person, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { Pool } from 'pg';
import { ask, send } from '../graphql/call.ts';
import { Writer } from '../graphql/writer.ts';
import { replicatedSystem } from './replicated-system.ts';

const TITLES = 'query ($at: String) { tasks(first: 100, minSyncId: $at) { nodes { title } } }';

/** A real streaming standby; the tests pause its replay to choose its position. */
describe('queries of GraphQL with a database replica', () => {
  let testSystem: TestSystem;
  let ann: Person;
  let workspaceId: string;
  let writer: Writer;
  /** As the superuser, on the standby. */
  let standby: Pool;
  let primary: Pool;

  before(async () => {
    testSystem = await replicatedSystem();
    standby = new Pool({ connectionString: testSystem.standbyUrl, max: 1 });
    standby.on('error', () => {});
    primary = new Pool({ connectionString: testSystem.database.url, max: 1 });
    primary.on('error', () => {});
    ann = await testSystem.person('Ann');
    workspaceId = (await testSystem.workspaceOf(ann)).id;
    writer = new Writer(testSystem, ann.token, workspaceId);
  });
  after(() => Promise.all([standby.end(), primary.end()]));
  afterEach(() => standby.query('select pg_wal_replay_resume()'));

  const headOf = async (pool: Pool): Promise<bigint> =>
    BigInt(
      (await pool.query<{ at: string }>('select max(sync_id)::text as at from sync.sync_actions')).rows[0]?.at ?? '0',
    );
  const hasAll = (): Promise<unknown> => eventually(async () => (await headOf(standby)) === (await headOf(primary)));
  const pauseReplay = async (): Promise<void> => {
    await hasAll();
    await standby.query('select pg_wal_replay_pause()');
    await eventually(async () => {
      const { rows } = await standby.query<{ state: string }>('select pg_get_wal_replay_pause_state() as state');
      return rows[0]?.state === 'paused';
    });
  };
  const titles = async (at: string | null = null, who = ann): Promise<string[]> => {
    const { tasks } = await ask<{ tasks: { nodes: { title: string }[] } }>(testSystem, who.token, TITLES, { at });
    return tasks.nodes.map(({ title }) => title);
  };

  /** Whether the service read tasks on the standby during `work`. */
  async function isRead(work: () => Promise<unknown>): Promise<boolean> {
    const now = await standby.query<{ now: Date }>('select clock_timestamp() as now');
    await work();
    const { rowCount } = await standby.query(
      `select from pg_stat_activity where application_name = 'wts-graph' and query like '%from sync.tasks%' and query_start >= $1`,
      [now.rows[0]?.now],
    );
    return (rowCount ?? 0) > 0;
  }

  it('read it while it has what the caller needs [graphql.reads.replica]', async () => {
    const { syncId } = await writer.create({ title: 'On both' });
    await hasAll();
    assert.ok(await isRead(async () => assert.ok((await titles()).includes('On both'))), 'it was not read');
    assert.ok(await isRead(async () => assert.ok((await titles(syncId)).includes('On both'))), 'it was not read');
  });

  it('show the own change of the caller at once while it lags [graphql.reads.replica]', async () => {
    await pauseReplay();
    const made = await writer.create(
      { title: 'Delayed' },
      {},
      { select: 'id title workspace { tasks { nodes { title } } }' },
    );
    assert.ok(JSON.stringify(made.record['workspace']).includes('Delayed'));
    assert.ok((await headOf(standby)) < BigInt(made.syncId ?? ''), 'its replay was not paused');
    for (const at of [null, made.syncId]) assert.ok((await titles(at)).includes('Delayed'));
    await writer.update(made.record.id, { title: 'Changed while it lags' });
    assert.ok((await titles()).includes('Changed while it lags'));
    // What does not concern the caller may be missing there, and it is read.
    const eve = await testSystem.person('Eve');
    assert.deepEqual(await titles(null, eve), []);
    await standby.query('select pg_wal_replay_resume()');
    await hasAll();
    assert.ok(
      await isRead(async () => assert.ok((await titles()).includes('Changed while it lags'))),
      'it was not read',
    );
  });

  it('wait for the position that they name, and are UNAVAILABLE when it does not come [graphql.reads.replica, graphql.reads.position]', async () => {
    await pauseReplay();
    const next = String((await headOf(primary)) + 1n);
    const waiting = titles(next);
    await writer.create({ title: 'Awaited' });
    assert.ok((await waiting).includes('Awaited'));
    const { errors } = await send(testSystem, ann.token, TITLES, { at: String((await headOf(primary)) + 1_000n) });
    assert.deepEqual(
      errors?.map(({ extensions }) => extensions.code),
      ['UNAVAILABLE'],
    );
  });

  it('show nothing to a person who is still a member only there [graphql.reads.replica]', async () => {
    const bob = await testSystem.person('Bob');
    const payload = { workspaceId, userId: bob.userId, role: 'member' };
    const modelId = await testSystem.put('WorkspaceMember', payload);
    assert.ok((await titles(null, bob)).length > 0);
    await pauseReplay();
    await testSystem.commit([{ modelName: 'WorkspaceMember', modelId, action: 'DELETE', payload: {} }]);
    const known = await standby.query('select from sync.workspace_members where user_id = $1', [bob.userId]);
    assert.equal(known.rowCount, 1, 'its replay was not paused');
    assert.deepEqual(await titles(null, bob), []);
  });
});

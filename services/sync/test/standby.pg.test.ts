import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import type { DeltasReply } from '@wts/contracts';
import { eventually, openTestPostgres, openTestStandby, openWire, type Wire } from '@wts/testkit';
import { Pool } from 'pg';
import { LogWriter } from './log-writer.ts';
import { caller, TestSyncService } from './test-sync-service.ts';

type Server = Awaited<ReturnType<typeof openTestPostgres>>;

/** A real streaming standby; the tests pause its replay to choose its position. Each has people and a workspace of its own. */
describe('a streaming standby', () => {
  const stack = new AsyncDisposableStack();
  let primary: Server;
  let sync: TestSyncService;
  let standby: Server;
  /** The connection between the service and the standby, which can be cut. */
  let wire: Wire;
  /** As the superuser, on the standby. */
  let standbyPool: Pool;
  let ada: string;
  let bob: string;
  let home: string;
  let membership: string;

  before(async () => {
    primary = stack.use(await openTestPostgres('primary'));
    standby = stack.use(await openTestStandby(primary, 'standby'));
    sync = stack.use(await TestSyncService.open('standby', {}, primary.url()));
    standbyPool = stack.adopt(new Pool({ connectionString: standby.url(sync.database.name), max: 1 }), (pool) =>
      pool.end(),
    );
    standbyPool.on('error', () => {});
    wire = stack.use(await openWire({ host: '127.0.0.1', port: standby.port }));
    await sync.restart(async () => {
      const url = new URL(sync.database.urlOf('wts_sync'));
      url.port = String(wire.port);
      return { DATABASE_REPLICA_URL: url.href };
    });
  });
  after(() => stack.disposeAsync());
  beforeEach(async () => {
    ada = await sync.person('Ada');
    bob = await sync.person('Bob');
    home = await sync.workspace(ada);
    membership = await sync.join(bob, home);
    await task('Before');
    await hasAll();
  });
  afterEach(async () => {
    await sync.sql.query('update sync.log_state set floor = 0 where floor <> 0');
    await standbyPool.query('select pg_wal_replay_resume() where pg_is_in_recovery()');
  });

  const task = (title: string): Promise<string> => sync.insert('Task', { workspaceId: home, title }, ada);
  const pauseReplay = (): Promise<unknown> => standbyPool.query('select pg_wal_replay_pause()');
  const resumeReplay = (): Promise<unknown> => standbyPool.query('select pg_wal_replay_resume()');
  const headOf = async (pool: Pool): Promise<string> =>
    (await pool.query<{ at: string }>('select max(sync_id)::text as at from sync.sync_actions')).rows[0]?.at ?? '';
  const hasAll = (): Promise<unknown> =>
    eventually(async () => (await headOf(standbyPool)) === (await headOf(sync.sql)));

  const titles = ({ actions }: DeltasReply): unknown[] =>
    actions.flatMap(({ modelName, data }) => (modelName === 'Task' ? [data['title']] : []));
  const polled = async (after = '0', userId = ada): Promise<unknown[]> => titles(await sync.deltas(userId, { after }));

  /** Whether the service read a page there during `work`. */
  async function isRead(work: () => Promise<unknown>): Promise<boolean> {
    const now = await standbyPool.query<{ now: Date }>('select clock_timestamp() as now');
    await work();
    const { rows } = await standbyPool.query(
      `select 1 from pg_stat_activity where application_name = 'wts-sync-read' and query like '%find_page%' and query_start >= $1`,
      [now.rows[0]?.now],
    );
    return rows.length > 0;
  }

  it('is read for deltas, snapshots and records while it has what they need [sync.deltas.replica]', async () => {
    await task('After');
    await hasAll();
    assert.ok(await isRead(async () => assert.deepEqual(await polled(), ['Before', 'After'])), 'it was not read');
    const { rows } = await sync.bootstrap(ada, { onlyModels: 'Task' });
    assert.equal(rows.length, 2);
  });

  it('that lags makes no client miss an entry or load again [sync.deltas.replica]', async () => {
    await pauseReplay();
    await task('Delayed');
    const { lastSyncId, hasMore } = await sync.deltas(ada, { after: '0' });
    assert.deepEqual([lastSyncId, hasMore], [await headOf(sync.sql), false]);
    assert.ok(BigInt(await headOf(standbyPool)) < BigInt(lastSyncId), 'its replay was not paused');
    assert.ok(await isRead(async () => assert.deepEqual(await polled(), ['Before', 'Delayed'])), 'it was not read');

    // Cursors beyond its position: at the head, and before it.
    assert.deepEqual(await sync.deltas(ada, { after: lastSyncId }), { lastSyncId, hasMore: false, actions: [] });
    await task('Later');
    assert.deepEqual(await polled(lastSyncId), ['Later']);
    const { metadata } = await sync.bootstrap(ada);
    assert.deepEqual(await polled(metadata.lastSyncId), []);
    await resumeReplay();
    await hasAll();
    assert.deepEqual(await polled(), ['Before', 'Delayed', 'Later']);
  });

  it('shows nothing to a person who is still a member only there [sync.deltas.own-groups]', async () => {
    assert.deepEqual(await polled('0', bob), ['Before']);
    await pauseReplay();
    await task('Between');
    await sync.commit([{ modelName: 'WorkspaceMember', modelId: membership, action: 'DELETE', payload: {} }], ada);
    const known = await standbyPool.query('select 1 from sync.workspace_members where user_id = $1', [bob]);
    assert.equal(known.rowCount, 1, 'its replay was not paused');
    const { actions } = await sync.deltas(bob, { after: '0' });
    assert.deepEqual([...new Set(actions.map(({ groupId }) => groupId))], [bob]);
    assert.deepEqual(
      actions.filter(({ action }) => action === 'DELETE').map(({ modelId }) => modelId),
      [membership],
    );
    assert.deepEqual((await sync.bootstrap(bob, { onlyModels: 'Task' })).rows, []);
  });

  it('gives pollers every entry once and in order, while it falls behind and catches up', async () => {
    const pollers = [1, 3, 50].map((limit) => ({ limit, cursor: '0', received: [] as string[] }));
    const poll = async (poller: (typeof pollers)[number]): Promise<boolean> => {
      const { limit, cursor } = poller;
      const { actions, hasMore, lastSyncId } = await sync.deltas(ada, { after: cursor, limit: String(limit) });
      poller.received.push(...actions.map(({ syncId }) => syncId));
      poller.cursor = lastSyncId;
      return hasMore;
    };
    for (let round = 0; round < 20; round += 1) {
      const turn = randomInt(3);
      await Promise.all([
        task(`Task ${round}`),
        ...pollers.map(poll),
        ...(turn === 0 ? [pauseReplay()] : turn === 1 ? [resumeReplay()] : []),
      ]);
    }
    for (const poller of pollers) while (await poll(poller));
    const { rows } = await sync.sql.query<{ at: string }>(
      `select sync_id::text as at from sync.sync_actions where group_id = $1 or group_id = $2 and sync_id > (
         select max(sync_id) from sync.sync_actions where group_id = $1 and model = 'WorkspaceMember' and action = 'INSERT'
       ) order by sync_actions.sync_id`,
      [ada, home],
    );
    for (const { received, limit } of pollers) {
      assert.deepEqual(
        received,
        rows.map(({ at }) => at),
        `in pages of ${limit}`,
      );
    }
  });

  it('does not serve entries that were trimmed on the primary', async () => {
    await pauseReplay();
    const floor = await headOf(sync.sql);
    await sync.sql.query('update sync.log_state set floor = $1', [floor]);
    const answer = await sync.call('/sync/deltas?after=1', { principal: caller(ada) });
    assert.deepEqual([answer.status, ((await answer.json()) as { error: string }).error], [409, 'BOOTSTRAP_REQUIRED']);
  });

  it('that hangs delays one request for a short time, and is read again when it answers', async () => {
    await polled();
    wire.freeze();
    const answers = await Promise.all(Array.from({ length: 8 }, () => polled()));
    assert.deepEqual(
      answers,
      answers.map(() => ['Before']),
    );
    await task('Meanwhile');
    assert.deepEqual(await polled(), ['Before', 'Meanwhile']);
    wire.mend();
    await eventually(() => isRead(() => polled()), { everyMs: 200 });
  });

  it('that is killed is not needed, and is read again when it runs', async () => {
    await polled();
    await standby.kill();
    await task('Meanwhile');
    assert.deepEqual(await polled(), ['Before', 'Meanwhile']);
    assert.equal((await sync.bootstrap(ada, { onlyModels: 'Task' })).rows.length, 2);
    await standby.start();
    await eventually(() => isRead(() => polled()), { everyMs: 200 });
    assert.deepEqual(await polled(), ['Before', 'Meanwhile']);
  });

  // Last, because the servers are no pair any more.
  it('that was promoted is at most a stale replica, and a log of another epoch from its first entry on', async () => {
    await standbyPool.query('select pg_promote()');
    await task('Here');
    assert.deepEqual(await polled(), ['Before', 'Here']);
    const url = new URL(sync.database.urlOf('wts_sync'));
    url.port = String(standby.port);
    const there = stack.adopt(new Pool({ connectionString: url.href }), (pool) => pool.end());
    // The standby may be stopped already.
    there.on('error', () => {});
    const writer = new LogWriter(there);
    await writer.append([{ groupId: home, data: { title: 'There' } }]);
    await task('Here again');
    assert.deepEqual(await polled(), ['Before', 'Here', 'Here again']);
    assert.equal((await sync.bootstrap(ada, { onlyModels: 'Task' })).rows.length, 3);
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { EntryChunk } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { eventually, openTestPostgres, openTestStandby, openWire, socketOf, testDatabase } from '@wts/testkit';
import type { LiveSocket, TestDatabase, Wire } from '@wts/testkit';
import { Client, Pool } from 'pg';
import { LogWriter } from '../../test/log-writer.ts';
import { openTestReplica, quiet, type TestReplica } from '../../test/replica.ts';
import { maintainLogOnce } from '../log-maintenance.ts';

type Server = Awaited<ReturnType<typeof openTestPostgres>>;

const STREAMING = `select from pg_stat_replication where state = 'streaming'`;
const SYNCHRONOUS = `select from pg_stat_replication where sync_state = 'sync'`;

/**
 * A primary and a standby that streams from it. Sync connects to the present primary by one address; the standby connects to the
 * primary through a proxy that can be cut.
 */
describe('a failover to a streaming standby', () => {
  let stack: AsyncDisposableStack;
  let primary: Server;
  let standby: Server;
  let address: Wire;
  let stream: Wire;
  let database: TestDatabase;
  let pool: Pool;
  let writer: LogWriter;
  let replica: TestReplica;
  const workspace = randomUUID();
  const user = randomUUID();

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    primary = stack.use(await openTestPostgres('primary'));
    address = stack.use(await openWire({ host: '127.0.0.1', port: primary.port }));
    stream = stack.use(await openWire({ host: '127.0.0.1', port: primary.port }));
    database = await testDatabase('failover', { migrated: true, adminUrl: primary.url() });
    const throughWire = { ...primary, url: (name?: string) => stream.through(primary.url(name)) };
    standby = stack.use(await openTestStandby(throughWire, 'standby'));
    await eventually(async () => (await ask(primary, STREAMING)).length === 1);
    pool = stack.adopt(new Pool({ connectionString: address.through(database.urlOf('wts_sync')) }), (one) => one.end());
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    writer = new LogWriter(pool);
    await keep();
    await writer.join(user, workspace);
    replica = stack.use(await openTestReplica({ pool, writer, pollMs: 50 }));
  });
  afterEach(() => stack.disposeAsync());

  const keep = (): Promise<unknown> =>
    maintainLogOnce({
      pool,
      log: new LogReader(pool),
      retention: { ageMs: 86_400_000, youngestMs: 86_400_000 },
      logger: quiet,
    });

  async function ask<T extends object>(server: Server, sql: string, name = 'postgres'): Promise<T[]> {
    const client = new Client({ connectionString: server.url(name) });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query<T>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Kills the primary, and promotes the standby behind the same address. */
  async function failOver(): Promise<void> {
    await primary.kill();
    const admin = new Client({ connectionString: standby.url() });
    await admin.connect();
    await eventually(() => admin.query('select pg_promote()'));
    await admin.end();
    address.redirect({ host: '127.0.0.1', port: standby.port });
    await eventually(async () => !(await pool.query<{ is: boolean }>('select pg_is_in_recovery() as is')).rows[0]?.is);
  }

  const isTold = ({ frames }: LiveSocket): boolean => frames.some(({ code }) => code === 'BOOTSTRAP_REQUIRED');

  /** A subscriber is sent to a bootstrap, and continues from its position. */
  async function assertGoesOn(socket: LiveSocket, next: EntryChunk): Promise<void> {
    await socket.until(isTold);
    const { floor, head, epoch } = await replica.log.head();
    assert.deepEqual({ head: String(head), epoch }, { head: next.last, epoch: next.epoch });
    assert.equal(BigInt(next.prev), floor);
    // A cursor of the epoch before, also at an entry that was lost.
    socket.send({ type: 'subscribe', afterSyncId: socket.cursor(), token: user });
    await socket.until(({ frames }) => frames.filter(({ code }) => code === 'BOOTSTRAP_REQUIRED').length === 2);
    socket.send({ type: 'subscribe', afterSyncId: String(floor), token: user });
    await socket.untilAction(({ syncId }) => syncId === next.last, 20_000);
  }

  it('that is synchronous loses nothing that was acknowledged, and begins a new epoch [never.acknowledged-lost]', async () => {
    await ask(primary, `alter system set synchronous_standby_names = '*'`);
    await ask(primary, 'select pg_reload_conf()');
    await eventually(async () => (await ask(primary, SYNCHRONOUS)).length === 1);
    const socket = stack.use(await socketOf(replica, { token: user, after: '0' }));
    let isDead = false;
    const writing = Array.from({ length: 6 }, async () => {
      const acknowledged: EntryChunk[] = [];
      while (!isDead) {
        const chunk = await writer.append([{ groupId: workspace }, { groupId: workspace }]).catch(() => null);
        if (chunk !== null) acknowledged.push(chunk);
      }
      return acknowledged;
    });
    await socket.until(({ actions }) => actions.length > 50);
    await primary.kill();
    isDead = true;
    const acknowledged = (await Promise.all(writing)).flat();
    const before = acknowledged[0]!.epoch;
    await failOver();

    const { rows } = await pool.query<{ at: string; event: string }>(
      'select sync_id::text as at, event_id::text as event from sync.sync_actions',
    );
    const kept = new Map(rows.map(({ at, event }) => [at, event]));
    for (const { syncId, eventId } of acknowledged.flatMap(({ actions }) => actions))
      assert.equal(kept.get(syncId), eventId, `${syncId} was acknowledged and is lost`);
    // Maintenance begins the epoch without a commit, and only once. Two that make the same partition fail, and are run again.
    await Promise.all([1, 2, 3].map(() => eventually(async () => (await keep(), true))));
    const { head, floor, epoch } = await replica.log.head();
    assert.notEqual(epoch, before);
    assert.equal(head, floor, 'a client that loads now can go on');
    await keep();
    const next = await writer.append([{ groupId: workspace }]);
    assert.equal(next.epoch, epoch);
    assert.ok(BigInt(next.first) > BigInt(rows.reduce((most, { at }) => (BigInt(at) > BigInt(most) ? at : most), '0')));
    await assertGoesOn(socket, next);
  });

  it('that is asynchronous and behind uses no position twice: a new epoch tells readers that entries were lost [never.actions-lost, sync.log.epoch]', async () => {
    const { epoch } = await replica.log.head();
    await primary.kill();
    await primary.start();
    await eventually(async () => (await keep(), true));
    const socket = stack.use(await socketOf(replica, { token: user, after: '0' }));
    const before = await writer.append([{ groupId: workspace }]);
    assert.equal(before.epoch, epoch, 'a restart begins none');
    const arrived = async (): Promise<boolean> => {
      const sql = `select from sync.sync_actions where sync_id = ${before.last}`;
      return (await ask(standby, sql, database.name)).length === 1;
    };
    await eventually(arrived);
    stream.cut();
    const lost = await writer.append([{ groupId: workspace }, { groupId: workspace }]);
    await socket.untilAction(({ syncId }) => syncId === lost.last);
    await failOver();

    // The next commit is of the new epoch, without maintenance before it.
    const next = await writer.append([{ groupId: workspace }]);
    assert.notEqual(next.epoch, before.epoch);
    assert.ok(BigInt(next.first) > BigInt(lost.last), `${next.first} was a place before`);
    await assertGoesOn(socket, next);
  });
});

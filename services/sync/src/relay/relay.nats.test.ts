import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { LogReader } from '@wts/log';
import { decodeChunk, encodeChunk, ensureStream, messageIdOf } from '@wts/log/stream';
import { STREAM, type EntryChunk } from '@wts/contracts';
import { eventually, openWire, testDatabase, testNats, type TestDatabase } from '@wts/testkit';
import type { BackgroundWork } from '@wts/service-kit/background';
import { Pool } from 'pg';
import { Registry } from 'prom-client';
import { LogWriter } from '../../test/log-writer.ts';
import { openNats } from '../../test/nats-source.ts';
import { quiet, testContext } from '../../test/replica.ts';
import { publishWorkspaces } from './committed-workspaces.ts';
import { openHandover } from './handover.ts';
import type { NatsSource } from './other-replicas.ts';
import { relayMetrics } from './metrics.ts';
import { GATHER_MS, startRelay, type RelayOptions } from './relay.ts';

describe('the relay [sync.log.relay]', () => {
  const group = randomUUID();
  let stack: AsyncDisposableStack;
  let database: TestDatabase;
  let pool: Pool;
  let server: Awaited<ReturnType<typeof testNats>>;
  let writer: LogWriter;
  let nats: NatsSource;
  /** The position at which the log of a test begins. */
  let start: bigint;

  before(async () => {
    database = await testDatabase('relay', { migrated: true });
    pool = new Pool({ connectionString: database.urlOf('wts_sync') });
    server = await testNats('relay');
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await pool.end();
    await database.drop();
  });
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    writer = new LogWriter(pool);
    nats = await openNats(server.url, stack);
    // Behind the relays, which would make it again.
    stack.defer(async () => void (await eventually(removeStream)));
    start = (await new LogReader(pool).head()).head;
    await pool.query('update sync.log_state set floor = $1', [String(start)]);
  });
  afterEach(() => stack.disposeAsync());

  const manager = () => nats.connection()!.jetstreamManager();
  const removeStream = async (): Promise<true> => {
    const { streams } = await manager();
    await streams.delete(STREAM.name).catch(() => undefined);
    return true;
  };

  function relay(options: Partial<RelayOptions> = {}, context = testContext()): BackgroundWork {
    return stack.use(
      startRelay(context, {
        nc: () => nats.connection(),
        of: STREAM,
        log: new LogReader(pool),
        handover: stack.use(openHandover({ nats, of: STREAM, onCommitted: writer.onCommitted, logger: quiet })),
        databaseUrl: database.urlOf('wts_sync'),
        streamReplicas: 1,
        metrics: relayMetrics(new Registry()),
        logger: quiet,
        leaseSilenceMaxMs: 600,
        ...options,
      }),
    );
  }

  const commit = (count = 1, silently = false): Promise<EntryChunk> =>
    writer.append(
      Array.from({ length: count }, () => ({ groupId: group })),
      { silently },
    );
  const commits = async (times: number, silently = false): Promise<void> => {
    for (let time = 0; time < times; time += 1) await commit(1 + (time % 3), silently);
  };

  async function stored(): Promise<EntryChunk[]> {
    const { streams } = await manager();
    const { state } = await streams.info(STREAM.name);
    const chunks: EntryChunk[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1)
      chunks.push(decodeChunk((await streams.getMessage(STREAM.name, { seq })).data));
    return chunks;
  }

  /** Waits until the stream has the whole log, as one chain of chunks with the committed entries. */
  async function untilWhole(from = start): Promise<EntryChunk[]> {
    const last = writer.committed.at(-1)!.syncId;
    await eventually(async () => (await stored()).at(-1)?.last === last, { everyMs: 50 });
    const chunks = await stored();
    for (const [index, chunk] of chunks.entries()) {
      if (index > 0) assert.equal(chunk.prev, chunks[index - 1]!.last);
    }
    const first = BigInt(chunks[0]!.prev);
    assert.ok(first <= from, `the stream begins at ${first}`);
    assert.deepEqual(
      chunks.flatMap(({ actions }) => actions),
      writer.committed.filter(({ syncId }) => BigInt(syncId) > first),
    );
    return chunks;
  }

  it('publishes every commit, handed over or not', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    await commits(20);
    await commits(20, true);
    await Promise.all(Array.from({ length: 40 }, () => commit()));
    await untilWhole();
  });

  it('joins commits that follow one another closely into few messages', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    await commit();
    await untilWhole();
    const startedAt = performance.now();
    await commits(40);
    const { length } = await untilWhole();
    // The first two are the one before, and one that may be sent at once.
    assert.ok(length <= 2 + Math.ceil((performance.now() - startedAt) / GATHER_MS), `${length} messages`);
  });

  it('publishes what was committed while no relay ran', async () => {
    const first = relay();
    await commits(5);
    await untilWhole();
    await first[Symbol.asyncDispose]();
    await commits(5);
    relay();
    await untilWhole();
  });

  it('divides a commit that is larger than one message', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    await commit();
    await untilWhole();
    await writer.append(Array.from({ length: 30 }, () => ({ groupId: group, data: { text: 'x'.repeat(30_000) } })));
    const chunks = await untilWhole();
    assert.ok(chunks.length > 5 && chunks.every((chunk) => encodeChunk(chunk).byteLength < 300_000));
  });

  it('starts an empty stream with what the log still has', async () => {
    await commits(5, true);
    const floor = writer.committed[2]!.syncId;
    await pool.query('update sync.log_state set floor = $1', [floor]);
    relay();
    const chunks = await untilWhole(BigInt(floor));
    assert.equal(chunks[0]?.prev, floor);
  });

  it('runs on one replica at a time, and on the next as soon as the first loses its database session', async () => {
    const relays = [relay(), relay()];
    await eventually(() => relays.some(({ isActive }) => isActive));
    await commits(5);
    await untilWhole();
    assert.equal(relays.filter(({ isActive }) => isActive).length, 1);
    const ended = await pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'wts-sync-relay'`,
    );
    assert.ok(ended.rowCount! >= 1);
    await commits(5);
    await untilWhole();
  });

  it('moves to another replica when its holder hangs, and a holder that continues late changes nothing', async () => {
    const address = new URL(database.urlOf('wts_sync'));
    const wire = stack.use(await openWire({ host: address.hostname, port: Number(address.port) }));
    const frozen = relay({ databaseUrl: wire.through(address.href) });
    await eventually(() => frozen.isActive);
    await commits(3);
    await untilWhole();
    const successor = relay();
    wire.freeze();
    await eventually(() => successor.isActive);
    await commits(3);
    await untilWhole();
    wire.mend();
    await commits(3);
    await untilWhole();
    assert.ok(successor.isActive && !frozen.isActive);
  });

  it('moves to another replica when its holder cannot reach the broker', async () => {
    const cut = relay({ nc: () => null });
    await eventually(() => cut.isActive);
    const other = relay();
    await commits(3);
    await untilWhole();
    assert.ok(other.isActive);
  });

  it('counts failures and no success while it cannot reach the broker, also when it releases its lease', async () => {
    const context = testContext();
    const countOf = async (name: string): Promise<number> => {
      const { values } = await context.metrics.getSingleMetric(`wts_background_${name}_total`)!.get();
      return values.reduce((sum, { value }) => sum + value, 0);
    };
    relay({ nc: () => null }, context);
    // It releases the lease at the eighth.
    await eventually(async () => (await countOf('failures')) > 8, { everyMs: 50 });
    assert.equal(await countOf('runs'), 0);
  });

  it('continues after a lost acknowledgement, and while another relay publishes', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    await commits(3);
    await untilWhole();
    // Another publisher adds exactly the next chunk before the relay does.
    const chunk = await commit(2, true);
    await nats
      .connection()!
      .jetstream()
      .publish(STREAM.subject, encodeChunk(chunk), { msgID: `${chunk.epoch}:${chunk.first}-${chunk.last}` });
    await commits(3);
    await untilWhole();
  });

  it('creates a deleted stream again and continues', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    await commits(3);
    await untilWhole();
    await (await manager()).streams.delete(STREAM.name);
    await commits(6);
    await untilWhole();
  });

  it('publishes again what a stream has lost at its end, as after a power failure', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    // The relay joins waiting commits into one message, and the test needs several messages.
    for (let time = 0; time < 4; time += 1) {
      await commit();
      await untilWhole();
    }
    const [first, second] = await untilWhole();
    // JetStream cannot remove the end of a stream, so the test restores it with its first messages only.
    const connection = nats.connection()!;
    await (await manager()).streams.delete(STREAM.name);
    // A server that still removes the files of the deleted stream refuses.
    await eventually(async () => {
      await ensureStream(connection, { replicas: 1 });
      return true;
    });
    for (const chunk of [first!, second!])
      await connection.jetstream().publish(STREAM.subject, encodeChunk(chunk), { msgID: messageIdOf(chunk) });
    await commits(3);
    await untilWhole();
  });

  it('publishes the commits of a broker outage afterwards, in few messages', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    await commits(3);
    await untilWhole();
    await server.kill();
    await commits(120);
    await server.start();
    const chunks = await untilWhole();
    assert.ok(chunks.length < 20, `${chunks.length} messages`);
  });

  it('continues in a new epoch from the head of the new log', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    await commits(3);
    await untilWhole();
    await holder[Symbol.asyncDispose]();
    await pool.query('update sync.log_state set epoch = gen_random_uuid()');
    relay();
    await commits(3);
    await eventually(async () => (await stored()).at(-1)?.last === writer.committed.at(-1)!.syncId, { everyMs: 50 });
    const epochs = new Set((await stored()).map(({ epoch }) => epoch));
    assert.equal(epochs.size, 2);
  });

  it('stops immediately on dispose, also while the broker is down', async () => {
    const holder = relay();
    await eventually(() => holder.isActive);
    await commits(3);
    await server.kill();
    await commits(3);
    const started = performance.now();
    await holder[Symbol.asyncDispose]();
    assert.ok(performance.now() - started < 5_000);
    await server.start();
  });

  it('publishes the workspaces of commits while a follower announces itself, and no others', async () => {
    const connection = nats.connection()!;
    const named: string[] = [];
    connection.subscribe(STREAM.committed, {
      callback: (_error, { data }) => named.push(Buffer.from(data).toString()),
    });
    publishWorkspaces(nats, STREAM, writer.onCommitted);
    await connection.flush();
    const followed = randomUUID();
    const commitIn = (groupId: string): Promise<EntryChunk> => writer.append([{ groupId, workspaceId: groupId }]);
    await commitIn(group);
    await connection.flush();
    connection.publish(STREAM.followers);
    await eventually(async () => {
      await commitIn(followed);
      await connection.flush();
      return named.length > 0;
    });
    assert.deepEqual([...new Set(named)], [followed]);
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { streamOf } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { eventually, socketOf, testDatabase, testNats, type LiveSocket, type TestDatabase } from '@wts/testkit';
import type { BackgroundWork } from '@wts/service-kit/background';
import { Pool } from 'pg';
import { Registry } from 'prom-client';
import { LogWriter } from '../../test/log-writer.ts';
import { openNats } from '../../test/nats-source.ts';
import { openTestReplica, quiet, testContext, type ReplicaOptions, type TestReplica } from '../../test/replica.ts';
import { openHandover } from '../relay/handover.ts';
import type { NatsSource } from '../relay/other-replicas.ts';
import { relayMetrics } from '../relay/metrics.ts';
import { startRelay } from '../relay/relay.ts';

/** Nothing is special about log 0. */
const OF = streamOf(7);

/** A whole replica: its own writer, connection, relay, hub and socket server. */
interface WholeReplica {
  readonly writer: LogWriter;
  readonly nats: NatsSource;
  readonly relay: BackgroundWork;
  readonly replica: TestReplica;
}

describe('replicas', () => {
  let stack: AsyncDisposableStack;
  let database: TestDatabase;
  let pool: Pool;
  let server: Awaited<ReturnType<typeof testNats>>;
  const committed = new Map<bigint, string>();

  beforeEach(async () => {
    committed.clear();
    stack = new AsyncDisposableStack();
    database = stack.use(await testDatabase('replicas', { migrated: true }));
    pool = stack.adopt(new Pool({ connectionString: database.urlOf('wts_sync'), max: 20 }), (one) => one.end());
    server = stack.use(await testNats('replicas'));
  });
  afterEach(() => stack.disposeAsync());

  async function openWholeReplica(options: Pick<ReplicaOptions, 'pollMs'> = {}): Promise<WholeReplica> {
    const writer = new LogWriter(pool);
    writer.onCommitted((chunk) => {
      for (const { syncId, groupId } of chunk.actions) committed.set(BigInt(syncId), groupId);
    });
    const nats = await openNats(server.url, stack);
    const nc = (): ReturnType<NatsSource['connection']> => nats.connection();
    const handover = stack.use(openHandover({ nats, of: OF, onCommitted: writer.onCommitted, logger: quiet }));
    const databaseUrl = database.urlOf('wts_sync');
    const metrics = relayMetrics(new Registry());
    const relay = stack.use(
      startRelay(testContext(), {
        nc,
        of: OF,
        log: new LogReader(pool),
        handover,
        databaseUrl,
        streamReplicas: 1,
        metrics,
        logger: quiet,
        leaseSilenceMaxMs: 1_000,
      }),
    );
    const replica = stack.use(
      await openTestReplica({ of: OF, pool, handover, nc, ring: { bytesMax: 200_000, ageMs: 60_000 }, ...options }),
    );
    return { writer, nats, relay, replica };
  }

  function assertComplete(socket: LiveSocket, after: bigint, groups: readonly string[]): void {
    const wanted = [...committed].filter(([id, group]) => id > after && groups.includes(group)).map(([id]) => id);
    wanted.sort((a, b) => (a < b ? -1 : 1));
    assert.deepEqual(
      socket.actions.map(({ syncId }) => BigInt(syncId)),
      wanted,
    );
  }

  async function write(writers: readonly LogWriter[], groups: readonly string[], rounds: number): Promise<void> {
    await Promise.all(
      writers.map(async (writer, number) => {
        for (let round = 0; round < rounds; round += 1) {
          const groupId = groups[(round + number) % groups.length]!;
          await writer.append(Array.from({ length: 1 + (round % 3) }, () => ({ groupId })));
        }
      }),
    );
  }

  it('receive the commits of each other by hand-over and stream, before they would read the log [sync.socket.two-replicas]', async () => {
    // They read the log only long after the test.
    const options = { pollMs: 600_000 };
    const [a, b] = [await openWholeReplica(options), await openWholeReplica(options)];
    const [user, home]: [string, string] = [randomUUID(), randomUUID()];
    await a.writer.join(user, home);
    await eventually(() => b.replica.hub.last >= 2n);
    const socket = stack.use(await socketOf(b.replica, { token: user }));
    for (let round = 0; round < 20; round += 1) {
      const chunk = await a.writer.append([{ groupId: home }]);
      await socket.untilAction(({ syncId }) => syncId === chunk.last);
    }
  });

  it('send no hand-over while they are alone, and send it to a replica that starts', async () => {
    const sent: string[] = [];
    const observer = await openNats(server.url, stack);
    observer.connection()?.subscribe(OF.handover, { callback: (_error, { subject }) => sent.push(subject) });
    const options = { pollMs: 600_000 };
    const a = await openWholeReplica(options);
    const { last } = await a.writer.append([{ groupId: randomUUID() }]);
    await eventually(() => a.replica.hub.last === BigInt(last));
    await observer.connection()?.flush();
    assert.deepEqual(sent, []);
    await openWholeReplica(options);
    await eventually(async () => {
      await a.writer.append([{ groupId: randomUUID() }]);
      return sent.length > 0;
    });
  });

  it('lose, repeat and reorder no entry while the broker is killed, the stream deleted and sessions cut [never.actions-lost]', async () => {
    const all = [await openWholeReplica(), await openWholeReplica(), await openWholeReplica()];
    const writers = all.flatMap(({ writer }) => [writer, writer]);
    const groups: string[] = [randomUUID(), randomUUID(), randomUUID()];
    const users: string[] = groups.map(() => randomUUID());
    for (const [index, user] of users.entries())
      for (const group of groups.slice(index)) await all[0]!.writer.join(user, group);
    // From here on both are members; before, each got only the entries after they joined.
    const joined = [...committed.keys()].reduce((most, id) => (id > most ? id : most), 0n);
    const after = String(joined);
    const sockets = await Promise.all(
      users.flatMap((token) =>
        all.map(async ({ replica }) => ({ token, socket: stack.use(await socketOf(replica, { token, after })) })),
      ),
    );

    const faults = (async () => {
      await write(writers, groups, 5);
      await server.kill();
      await write(writers, groups, 5);
      await server.start();
      await write(writers, groups, 5);
      await eventually(async () => {
        const manager = await all[0]!.nats.connection()!.jetstreamManager();
        return manager.streams.delete(OF.name).catch(() => false);
      });
      await write(writers, groups, 5);
      const endLease = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'wts-sync-relay'`;
      await eventually(async () => (await pool.query(endLease)).rowCount! >= 1);
    })();
    await Promise.all([faults, write(writers, groups, 15)]);

    const fiftieth = [...committed.keys()].toSorted((a, b) => (a < b ? -1 : 1))[49]!;
    const late = stack.use(await socketOf(all[1]!.replica, { token: users[0]!, after: String(fiftieth) }));
    for (const { token, socket } of sockets) {
      const visible = [token, ...groups.slice(users.indexOf(token))];
      const last = [...committed]
        .filter(([, group]) => visible.includes(group))
        .reduce((most, [id]) => (id > most ? id : most), 0n);
      await socket.untilAction(({ syncId }) => BigInt(syncId) === last, 20_000);
      assertComplete(socket, joined, visible);
      if (token === users[0]) {
        await late.untilAction(({ syncId }) => BigInt(syncId) === last, 20_000);
        assertComplete(late, fiftieth, visible);
      }
    }
  });

  it('may stop while others write: their clients continue on another replica from their cursor', async () => {
    const [a, b] = [await openWholeReplica(), await openWholeReplica()];
    const [user, home]: [string, string] = [randomUUID(), randomUUID()];
    await a.writer.join(user, home);
    const socket = stack.use(await socketOf(a.replica, { token: user }));
    const writing = write([b.writer, b.writer], [home], 80);
    await socket.until(({ actions }) => actions.length > 20);
    await a.replica.socketServer.drain(20);
    await a.relay[Symbol.asyncDispose]();
    assert.equal(socket.ended()?.code, 1012);
    const again = stack.use(await socketOf(b.replica, { token: user, after: socket.cursor() }));
    await writing;
    const last = [...committed.keys()].reduce((most, id) => (id > most ? id : most), 0n);
    await again.untilAction(({ syncId }) => BigInt(syncId) === last);
    assertComplete(again, BigInt(socket.cursor()), [user, home]);
    const received = new Set(socket.actions.map(({ syncId }) => syncId));
    assert.ok(!again.actions.some(({ syncId }) => received.has(syncId)));
  });
});

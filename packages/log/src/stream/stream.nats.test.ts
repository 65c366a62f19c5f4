import assert from 'node:assert/strict';
import { natsInbox, STREAM, streamOf, type EntryChunk, type StoredEntry } from '@wts/contracts';
import { eventually, testNats } from '@wts/testkit';
import { connect, nanos, type NatsConnection } from 'nats';
import { entry, chunk } from '../../test/entries.ts';
import { consume, decodeChunk, encodeChunk, ensureStream, messageIdOf, openPublisher } from './index.ts';

/** The shortest that a server accepts. */
const DUPLICATE_WINDOW_MS = 100;

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Asks again until it is answered, because after a restart of the server the connection is opened again first. */
function stored(nc: NatsConnection): Promise<string[]> {
  return eventually(async () => {
    const manager = await nc.jetstreamManager();
    const { state } = await manager.streams.info(STREAM.name);
    const ids: string[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
      const { data } = await manager.streams.getMessage(STREAM.name, { seq });
      const { first, last } = decodeChunk(data);
      ids.push(`${first}-${last}`);
    }
    return ids;
  });
}

function connectAs(url: string): Promise<NatsConnection> {
  const { host, username, password } = new URL(url);
  const inboxPrefix = natsInbox(username);
  return connect({
    servers: host,
    user: username,
    pass: password,
    inboxPrefix,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
  });
}

describe('the stream', () => {
  let server: Awaited<ReturnType<typeof testNats>>;
  let nc: NatsConnection;
  let admin: NatsConnection;

  beforeEach(async () => {
    server = await testNats('stream', 'password');
    // With the NATS user of sync, so that the test needs no right that sync lacks.
    nc = await connectAs(server.urlOf('sync'));
    admin = await connectAs(server.url);
  });
  afterEach(async () => {
    await nc.close();
    await admin.close();
    await server[Symbol.asyncDispose]();
  });

  const deleteStream = async (): Promise<void> => {
    const manager = await admin.jetstreamManager();
    await manager.streams.delete(STREAM.name);
  };

  it('is created once and found afterwards', async () => {
    await ensureStream(nc, { replicas: 1 });
    await ensureStream(nc, { replicas: 1 });
  });

  it('is not created with more copies than there are servers', () =>
    assert.rejects(ensureStream(nc, { replicas: 3 }), /replicas/));

  it('gets the right settings when it was created with others, so that no message can be deleted', async () => {
    const manager = await admin.jetstreamManager();
    await manager.streams.add({ name: STREAM.name, subjects: [STREAM.subject], deny_delete: false, deny_purge: false });
    await ensureStream(nc, { replicas: 1 });
    await assert.rejects(manager.streams.purge(STREAM.name), /purge/);
  });

  it('is created by two replicas at the same time', () =>
    Promise.all([ensureStream(nc, { replicas: 1 }), ensureStream(nc, { replicas: 1 })]));

  it('needs a server of a minimum version with JetStream, and the error says so', async () => {
    const without = { info: { version: '2.14.0', jetstream: false } } as unknown as NatsConnection;
    await assert.rejects(ensureStream(without, { replicas: 1 }), /without JetStream: start it with -js/);
    const old = { info: { version: '2.9.10', jetstream: true } } as unknown as NatsConnection;
    await assert.rejects(ensureStream(old, { replicas: 1 }), /2\.9\.10 is too old/);
  });

  it('gives a publisher its end', async () => {
    await ensureStream(nc, { replicas: 1 });
    const publisher = openPublisher(nc);
    assert.equal(await publisher.last(), null);
    assert.equal(await publisher.publish(chunk(0, 5)), 'stored');
    assert.deepEqual(await openPublisher(nc).last(), { epoch: 'e1', last: 5n });
  });

  it('is one chain: of two publishers that read the same end, one extends it and the other gets a conflict', async () => {
    await ensureStream(nc, { replicas: 1 });
    const [a, b] = [openPublisher(nc), openPublisher(nc)];
    await Promise.all([a.last(), b.last()]);
    assert.equal(await a.publish(chunk(0, 3)), 'stored');
    assert.equal(await b.publish(chunk(0, 5)), 'conflict');
    assert.equal(await b.publish(chunk(3, 5)).catch(() => 'publish needs last'), 'publish needs last');
    assert.deepEqual(await b.last(), { epoch: 'e1', last: 3n });
    assert.equal(await b.publish(chunk(3, 5)), 'stored');
    assert.equal(await a.publish(chunk(3, 4)), 'conflict');
    assert.deepEqual(await stored(admin), ['1-3', '4-5']);
  });

  it('stores a chunk once when it is sent twice', async () => {
    await ensureStream(nc, { replicas: 1 });
    const publisher = openPublisher(nc);
    await publisher.last();
    await publisher.publish(chunk(0, 3));
    const again = openPublisher(nc);
    await again.last();
    assert.equal(await again.publish(chunk(0, 3)), 'duplicate');
    assert.deepEqual(await stored(admin), ['1-3']);
  });

  it('keeps its chain when the server is killed', async () => {
    await ensureStream(nc, { replicas: 1 });
    const publisher = openPublisher(nc);
    await publisher.last();
    await publisher.publish(chunk(0, 3));
    await server.kill();
    await assert.rejects(publisher.publish(chunk(3, 4)));
    await server.start();
    await eventually(async () => (await publisher.last())?.last === 3n);
    assert.equal(await publisher.publish(chunk(3, 6)), 'stored');
    assert.deepEqual(await stored(admin), ['1-3', '4-6']);
  });

  it('keeps its chain when the server restarts after the duplicate window and has no last id', async () => {
    await ensureStream(nc, { replicas: 1 });
    const manager = await admin.jetstreamManager();
    await manager.streams.update(STREAM.name, { duplicate_window: nanos(DUPLICATE_WINDOW_MS) });
    const publisher = openPublisher(nc);
    await publisher.last();
    await publisher.publish(chunk(0, 3));
    const publishedAt = Date.now();
    await eventually(() => Date.now() > publishedAt + 2 * DUPLICATE_WINDOW_MS);
    await server.kill();
    await server.start();
    // A relay opens a new publisher after each conflict, so the first attempt that reaches the server must succeed.
    let next = openPublisher(nc);
    const begin = async (): Promise<boolean> => {
      next = openPublisher(nc);
      return (await next.last()) !== null;
    };
    await eventually(begin);
    assert.equal(await next.publish(chunk(3, 6)), 'stored');
    assert.equal(await next.publish(chunk(6, 7)), 'stored');
    assert.deepEqual(await stored(admin), ['1-3', '4-6', '7-7']);
  });

  it('rejects a publisher after it was deleted and created again', async () => {
    await ensureStream(nc, { replicas: 1 });
    const publisher = openPublisher(nc);
    await publisher.last();
    await publisher.publish(chunk(0, 3));
    await deleteStream();
    await assert.rejects(publisher.publish(chunk(3, 4)));
    await assert.rejects(publisher.last());
    await ensureStream(nc, { replicas: 1 });
    assert.equal(await publisher.last(), null);
    assert.equal(await publisher.publish(chunk(4, 5)), 'stored');
  });

  it('stores a chunk that is too large for the server without its entries', async () => {
    await ensureStream(nc, { replicas: 1 });
    const publisher = openPublisher(nc);
    await publisher.last();
    const large: EntryChunk = { ...chunk(0, 1), actions: [entry(1, { data: { text: 'x'.repeat(2_000_000) } })] };
    assert.equal(await publisher.publish(large), 'stored');
    assert.deepEqual(await stored(admin), ['1-1']);
  });

  it('delivers chunks of the version before; those of a later one are read from the log, as during a rolling upgrade', async () => {
    await ensureStream(nc, { replicas: 1 });
    const stopping = new AbortController();
    const [ids, read]: [number[], number[]] = [[], []];
    let head = 0;
    const done = consume({
      nc: () => nc,
      from: 0n,
      readLog: async (after) => {
        const entries = Array.from({ length: head - Number(after) }, (_, index) => entry(Number(after) + 1 + index));
        read.push(...entries.map(({ syncId }) => Number(syncId)));
        return { entries, head: BigInt(head) };
      },
      readHead: async () => ({ epoch: 'e1', head: BigInt(head) }),
      onChunk: (one) => void ids.push(...one.actions.map(({ syncId }) => Number(syncId))),
      pollMs: 60_000,
      signal: stopping.signal,
      log: silent,
    });
    await eventually(
      async () => (await (await admin.jetstreamManager()).consumers.list(STREAM.name).next()).length > 0,
    );
    for (const version of ['"v":4,"shard":0', '"v":3', '"v":5,"shard":0', '"v":3', '"v":4,"shard":0']) {
      const next = chunk(head, head + 2);
      const text = Buffer.from(encodeChunk(next)).toString().replace('"v":4,"shard":0', version);
      head += 2;
      await nc.jetstream().publish(STREAM.subject, text, { msgID: messageIdOf(next) });
      await eventually(() => ids.length === head);
    }
    stopping.abort();
    await done;
    assert.deepEqual(ids, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert.deepEqual(read, [5, 6], 'only what came in the later version');
  });

  it('of each log is another one, so several logs share a server', async () => {
    for (const shard of [0, 7]) {
      const of = streamOf(shard);
      await ensureStream(admin, { replicas: 1, of });
      const publisher = openPublisher(admin, of);
      assert.equal(await publisher.last(), null);
      assert.equal(await publisher.publish(chunk(shard, shard + 1)), 'stored');
      assert.deepEqual(await openPublisher(admin, of).last(), { epoch: 'e1', last: BigInt(shard + 1) });
    }
    // The user of sync may use log 0 alone.
    await assert.rejects(ensureStream(nc, { replicas: 1, of: streamOf(7) }), /TIMEOUT|permission/i);
  });

  it('delivers entries to a consumer without reading the log, which delivers them when the stream is deleted, rewound or down', async () => {
    await ensureStream(nc, { replicas: 1 });
    const log: StoredEntry[] = [];
    const stopping = new AbortController();
    const ids: number[] = [];
    let reads = 0;
    const done = consume({
      nc: () => nc,
      from: 0n,
      readLog: async (after, limit) => {
        reads += 1;
        return { entries: log.slice(Number(after), Number(after) + limit), head: BigInt(log.length) };
      },
      readHead: async () => ({ epoch: 'e1', head: BigInt(log.length) }),
      onChunk: (one) => void ids.push(...one.actions.map(({ syncId }) => Number(syncId))),
      pollMs: 200,
      signal: stopping.signal,
      log: silent,
    });
    let publisher = openPublisher(nc);
    await publisher.last();
    const commit = async (count: number, publish = true): Promise<void> => {
      const from = log.length;
      for (let id = from + 1; id <= from + count; id += 1) log.push(entry(id));
      if (publish) await publisher.publish(chunk(from, log.length));
      await eventually(() => ids.length === log.length);
    };
    await commit(1);
    // From here on the stream delivers them: fewer reads than entries.
    reads = 0;
    for (let round = 0; round < 200; round += 1) await commit(1);
    assert.ok(reads < 100, `${reads} reads of the log for 200 published entries`);

    await commit(3, false);
    await deleteStream();
    await commit(2, false);
    await ensureStream(nc, { replicas: 1 });
    publisher = openPublisher(nc);
    await publisher.last();
    await commit(2);
    await server.kill();
    await commit(4, false);
    await server.start();
    await eventually(async () => [await publisher.last()]);
    await commit(5);

    stopping.abort();
    await done;
    assert.deepEqual(
      ids,
      Array.from(log.keys(), (index) => index + 1),
    );
  });
});

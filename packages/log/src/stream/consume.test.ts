import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import type { NatsConnection } from 'nats';
import type { EntryChunk, StoredEntry } from '@wts/contracts';
import { entry, chunk } from '../../test/entries.ts';
import { consume, type ConsumeOptions } from './index.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A log that grows; as in PostgreSQL, a reader sees a prefix of it. */
class GrowingLog {
  readonly entries: StoredEntry[] = [];
  epoch = 'e1';
  down = false;
  reads = 0;

  grow(upTo: number): void {
    while (this.entries.length < upTo) this.entries.push(entry(this.entries.length + 1));
  }

  readonly read: ConsumeOptions['readLog'] = async (after, limit) => {
    this.reads += 1;
    if (this.down) throw new Error('down');
    const from = Number(after);
    return { entries: this.entries.slice(from, from + limit), head: BigInt(this.entries.length) };
  };

  readonly head: ConsumeOptions['readHead'] = async () => {
    if (this.down) throw new Error('down');
    return { epoch: this.epoch, head: BigInt(this.entries.length) };
  };
}

interface Consumer {
  offer(chunk: EntryChunk): void;
  readonly delivered: EntryChunk[];
  readonly ids: () => number[];
  reach(id: number): Promise<void>;
  stop(): Promise<void>;
}

function consumer(log: GrowingLog, options: Partial<ConsumeOptions> = {}): Consumer {
  const stopping = new AbortController();
  const delivered: EntryChunk[] = [];
  let offer: (chunk: EntryChunk) => void = () => {};
  const done = consume({
    nc: () => null,
    from: 0n,
    readLog: log.read,
    readHead: log.head,
    handover: (accept) => {
      offer = accept;
      return () => (offer = () => {});
    },
    onChunk: (one) => void delivered.push(one),
    pollMs: 5,
    signal: stopping.signal,
    log: silent,
    ...options,
  });
  const ids = (): number[] => delivered.flatMap((one) => one.actions.map(({ syncId }) => Number(syncId)));
  return {
    offer: (one) => offer(one),
    delivered,
    ids,
    async reach(id) {
      const deadline = Date.now() + 5_000;
      while ((ids().at(-1) ?? 0) < id) {
        assert.ok(Date.now() < deadline, `stopped at ${ids().at(-1)} on the way to ${id}`);
        await new Promise(setImmediate);
      }
    },
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

function assertUnbroken(delivered: readonly EntryChunk[], from: number, upTo: number): void {
  const ids = delivered.flatMap((one) => one.actions.map(({ syncId }) => Number(syncId)));
  assert.deepEqual(
    ids,
    Array.from({ length: upTo - from }, (_, index) => from + index + 1),
  );
  let prev = String(from);
  for (const one of delivered) {
    assert.equal(one.prev, prev);
    assert.equal(one.first, one.actions[0]?.syncId);
    assert.equal(one.last, one.actions.at(-1)?.syncId);
    prev = one.last;
  }
}

describe('consume', () => {
  it('delivers every entry once and in order, when chunks are lost, doubled, reordered, cut or overlapping', async () => {
    const range = fc
      .tuple(fc.nat(59), fc.integer({ min: 1, max: 12 }))
      .map(([after, length]) => [after, Math.min(60, after + length)] as const);
    const arrival = fc.record({ range, yieldFirst: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 40 }), fc.nat(20), async (arrivals, from) => {
        const log = new GrowingLog();
        const under = consumer(log, { from: BigInt(from), pollMs: 10_000 });
        for (const {
          range: [after, upTo],
          yieldFirst,
        } of arrivals) {
          if (yieldFirst) await new Promise(setImmediate);
          // Only committed entries can arrive.
          log.grow(Math.max(upTo, from));
          under.offer(chunk(after, upTo));
        }
        log.grow(60);
        under.offer(chunk(59, 60));
        await under.reach(60);
        await under.stop();
        assertUnbroken(under.delivered, from, 60);
      }),
      { numRuns: 150 },
    );
  });

  it('does not read the log for a chunk that begins at the cursor', async () => {
    const log = new GrowingLog();
    const under = consumer(log, { pollMs: 10_000 });
    log.grow(1);
    under.offer(chunk(0, 1));
    await under.reach(1);
    const before = log.reads;
    for (let id = 2; id <= 50; id += 1) {
      log.grow(id);
      under.offer(chunk(id - 1, id));
      await under.reach(id);
    }
    assert.equal(log.reads, before);
    await under.stop();
  });

  it('reads entries from the log when no chunk arrives', async () => {
    const log = new GrowingLog();
    const under = consumer(log);
    log.grow(1_234);
    await under.reach(1_234);
    await under.stop();
    assertUnbroken(under.delivered, 0, 1_234);
  });

  it('reads the log rarely while nothing is committed and there is a connection, and often again after a commit', async () => {
    const log = new GrowingLog();
    const connected = { isClosed: () => true } as NatsConnection;
    const under = consumer(log, { nc: () => connected, pollMs: 1, quietPollMs: 60_000 });
    const deadline = Date.now() + 10_000;
    for (let seen = -1; seen < log.reads; await sleep(100)) {
      assert.ok(Date.now() < deadline, 'the log is still read often');
      seen = log.reads;
    }
    log.grow(2);
    under.offer(chunk(0, 2));
    await under.reach(2);
    log.grow(5);
    await under.reach(5);
    await under.stop();
  });

  it('reads the log immediately for a chunk that was sent without its entries', async () => {
    const log = new GrowingLog();
    const under = consumer(log, { pollMs: 10_000 });
    log.grow(3);
    under.offer({ ...chunk(0, 3), actions: [] });
    await under.reach(3);
    await under.stop();
    assertUnbroken(under.delivered, 0, 3);
  });

  it('delivers chunks while the log cannot be read, and fills holes when it can be read again', async () => {
    const log = new GrowingLog();
    log.grow(1);
    const under = consumer(log, { pollMs: 10_000 });
    await under.reach(1);
    log.down = true;
    log.grow(6);
    under.offer(chunk(1, 3));
    await under.reach(3);
    under.offer(chunk(4, 6));
    log.down = false;
    await under.reach(6);
    await under.stop();
    assertUnbroken(under.delivered, 0, 6);
  });

  it('continues at the head when the epoch changes, and calls onEpoch', async () => {
    const log = new GrowingLog();
    log.grow(10);
    const epochs: string[] = [];
    const under = consumer(log, { onEpoch: ({ epoch, head }) => (epochs.push(epoch), head) });
    await under.reach(10);
    log.entries.length = 7;
    log.epoch = 'e2';
    const before = under.delivered.length;
    under.offer(chunk(6, 7, 'e2'));
    while (epochs.length === 0) await new Promise(setImmediate);
    log.grow(9);
    under.offer(chunk(7, 9, 'e2'));
    while (under.delivered.length === before) await new Promise(setImmediate);
    await under.stop();
    assert.deepEqual(epochs, ['e2']);
    assertUnbroken(under.delivered.slice(before), 7, 9);
  });

  it('ignores chunks of an old epoch', async () => {
    const log = new GrowingLog();
    log.epoch = 'e2';
    log.grow(5);
    const epochs: string[] = [];
    const under = consumer(log, { onEpoch: ({ epoch, head }) => (epochs.push(epoch), head) });
    await under.reach(5);
    under.offer(chunk(5, 9, 'e1'));
    log.grow(6);
    await under.reach(6);
    await under.stop();
    assert.deepEqual(epochs, []);
    assertUnbroken(under.delivered, 0, 6);
  });

  it('delivers no page of another epoch as one of its own', async () => {
    const log = new GrowingLog();
    const epochs: string[] = [];
    let epochOfPage = 'e1';
    const readLog: ConsumeOptions['readLog'] = async (after, limit) => ({
      ...(await log.read(after, limit)),
      epoch: epochOfPage,
    });
    const under = consumer(log, { readLog, onEpoch: ({ epoch, head }) => (epochs.push(epoch), head) });
    log.grow(5);
    await under.reach(5);
    // A standby was promoted between two polls, and its log has passed the cursor.
    log.grow(9);
    log.epoch = epochOfPage = 'e2';
    while (epochs.length === 0) await new Promise(setImmediate);
    log.grow(12);
    await under.reach(12);
    await under.stop();
    assert.deepEqual(epochs, ['e2']);
    assert.deepEqual(under.ids(), [1, 2, 3, 4, 5, 10, 11, 12]);
  });

  describe('when entries after the cursor were trimmed', () => {
    const trimmed = (log: GrowingLog): ConsumeOptions['readLog'] => {
      return async (after, limit) => ({ ...(await log.read(after > 6n ? after : 6n, limit)), floor: 6n });
    };

    it('continues at the position that onTrimmed returns', async () => {
      const log = new GrowingLog();
      log.grow(10);
      const under = consumer(log, { readLog: trimmed(log), onTrimmed: ({ floor }) => floor });
      await under.reach(10);
      await under.stop();
      assert.deepEqual(under.ids(), [7, 8, 9, 10]);
    });

    it('rejects without onTrimmed, because skipping an entry is worse than stopping', async () => {
      const log = new GrowingLog();
      log.grow(10);
      const under = consumer(log, { readLog: trimmed(log) });
      await assert.rejects(under.stop(), /trimmed up to 6/);
      assert.deepEqual(under.ids(), []);
    });
  });

  it('rejects when its receiver fails, because skipping an entry is worse than stopping', async () => {
    const log = new GrowingLog();
    log.grow(1);
    const failing = consumer(log, { onChunk: () => Promise.reject(new Error('receiver failed')) });
    await assert.rejects(failing.stop(), /receiver failed/);
  });
});

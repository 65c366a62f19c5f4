import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIMITS, type StoredEntry } from '@wts/contracts';
import type { Entry } from '@wts/log';
import { Contention, FairGate, LoopTurns } from '@wts/service-kit/fairness';
import type { Hub } from '../hub/hub.ts';
import type { Packet } from '../hub/packet.ts';
import { Ring } from '../hub/ring.ts';
import { GroupListeners } from './group-listeners.ts';
import { Feed, type FeedSources } from './feed.ts';
import { GroupReads } from './group-reads.ts';
import { Rounds, type SharedPackets } from './rounds.ts';
import { STREAM_LIMITS } from '@wts/log/stream';

const CHUNKS = 200;

describe('a feed', () => {
  const [userId, home, other] = [randomUUID(), randomUUID(), randomUUID()];
  const last = BigInt(CHUNKS);
  const known = { groups: new Set([userId, home]), gains: new Map(), at: 0n, floor: 0n, epoch: 'one' };
  const source = { of: async () => known, since: async () => known, cached: () => known, invalidate: () => {} };
  const gate = new FairGate({ slots: 1, waitMs: 30_000, waitingMax: 100, refusal: 'Too much' });
  const rounds = new Rounds(
    () => last,
    () => {},
  );
  const readEntries = async (): Promise<{ entries: Entry[]; floor: bigint }> => assert.fail('the ring holds it');
  let sources: FeedSources;

  before(() => {
    const ring = new Ring({ bytesMax: STREAM_LIMITS.ringBytesMax, ageMs: 60_000 });
    for (let position = 1; position <= CHUNKS; position += 1) {
      const actions = [actionAt(String(position), position % 3 === 0 ? other : home)];
      ring.push({ epoch: 'one', prev: String(position - 1), first: String(position), last: String(position), actions });
    }
    const hub = { last, since: (cursor: bigint) => (cursor >= last ? [] : ring.since(cursor)) } as unknown as Hub;
    const groupReads = new GroupReads(source, gate);
    sources = {
      hub,
      gate,
      turns: new LoopTurns(new Contention()),
      rounds,
      groupListeners: new GroupListeners<Feed>(),
      groupReads,
      readEntries,
    };
  });

  /** A feed from a position on, whose client receives when `take` is called. */
  function open(after: bigint): { feed: Feed; take: () => void; received: () => number[]; sent: Packet[] } {
    const sent: Packet[] = [];
    let unreceived = 0;
    const socket = {
      get isFull() {
        return unreceived > LIMITS.socketUnsentBytesMax;
      },
      send: (packet: Packet) => {
        sent.push(packet);
        unreceived += packet.frame.length;
      },
      requireBootstrap: () => assert.fail('the ring holds it'),
      fail: (error: unknown) => assert.fail(String(error)),
    };
    const feed = new Feed(sources, socket, {
      reader: { userId },
      after,
      spelling: 'words',
      requested: new Set<string>(),
      known,
    });
    const received = (): number[] =>
      sent.flatMap(({ frame }) => [...String(frame).matchAll(/"syncId":"(\d+)"/g)].map(([, id]) => Number(id)));
    return { feed, take: () => (unreceived = 0), received, sent };
  }

  const positionsAfter = (after: number): number[] =>
    Array.from({ length: CHUNKS }, (_, index) => index + 1).filter((position) => position > after && position % 3 > 0);

  it('far behind in the ring prepares only what its client receives, and still sends all of it [never.unbounded]', async () => {
    const { feed, take, received, sent } = open(0n);
    for (let pulls = 0; !feed.isLive; pulls += 1) {
      assert.ok(pulls < CHUNKS, 'it does not reach the end');
      const shared: SharedPackets = new Map();
      feed.pull(last, shared);
      const made = [...shared.values()]
        .flatMap((packets) => packets.made)
        .reduce((sum, { frame }) => sum + frame.length, 0);
      assert.ok(made <= LIMITS.socketUnsentBytesMax + 100_000, `${made} bytes were prepared`);
      take();
      await nextTurn();
    }
    feed.end();
    assert.deepEqual(received(), positionsAfter(0));
    assert.equal(sent.at(-1)?.last, last);
  });

  it('sends all its entries while it shares packets with a feed that starts a little before [never.actions-lost]', async () => {
    // The entry at 3 is for others: both feeds start with the entry at 4, each with its own limit of bytes.
    const all = [open(2n), open(3n), open(9n)];
    for (let round = 0; all.some(({ feed }) => !feed.isLive); round += 1) {
      assert.ok(round < CHUNKS, 'they do not reach the end');
      const shared: SharedPackets = new Map();
      for (const { feed, take } of all) {
        feed.pull(last, shared);
        take();
      }
      await nextTurn();
    }
    assert.deepEqual(
      all.map(({ received }) => received()),
      [positionsAfter(2), positionsAfter(3), positionsAfter(9)],
    );
  });
});

function actionAt(syncId: string, groupId: string): StoredEntry {
  const record = { id: randomUUID(), title: 'x'.repeat(40_000) };
  const names = { modelName: 'Task', modelId: record.id, clientTxId: 'tx', clientId: 'client', actorId: groupId };
  const createdAt = '2026-11-21T09:00:00.000Z';
  const rest = { eventId: randomUUID(), workspaceId: groupId, changed: ['title'], completes: false, createdAt };
  return { ...names, ...rest, syncId, groupId, action: 'UPDATE', data: record, record };
}

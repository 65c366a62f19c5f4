import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { chunkAfter, decodeChunk, encodeChunk } from '@wts/log/stream';
import type { EntryChunk, StoredEntry, ModelRecord } from '@wts/contracts';
import * as fc from 'fast-check';
import { Ring } from './ring.ts';

function action(id: number, groupId = 'group'): StoredEntry {
  return {
    syncId: String(id),
    modelName: 'Task',
    modelId: 'task',
    action: 'UPDATE',
    data: {},
    groupId,
    clientTxId: '',
    clientId: '',
    createdAt: '2026-11-21T10:00:00.000Z',
    eventId: '',
    workspaceId: null,
    actorId: '',
    record: { id: 'task' },
    changed: [],
    completes: false,
  };
}

function chunk(after: number, length: number, make: (id: number) => StoredEntry = action): EntryChunk {
  const [first, ...rest] = Array.from({ length }, (_, index) => make(after + index + 1));
  return chunkAfter('e', String(after), [first!, ...rest]);
}

function filled(lengths: readonly number[], limits: { bytesMax: number; ageMs: number }): { ring: Ring; end: number } {
  const ring = new Ring(limits);
  let end = 0;
  for (const length of lengths) {
    ring.push(chunk(end, length));
    end += length;
  }
  return { ring, end };
}

describe('the ring', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 });

  it('returns all chunks after a cursor, or null when it no longer has them', () =>
    fc.assert(
      fc.property(lengths, fc.integer({ min: 300, max: 20_000 }), fc.nat(), (list, bytesMax, seed) => {
        const { ring, end } = filled(list, { bytesMax, ageMs: 60_000 });
        const cursor = seed % (end + 1);
        const chunks = ring.since(BigInt(cursor));
        if (chunks === null) return;
        const ids = chunks.flatMap(({ entries }) => entries.map(({ id }) => Number(id))).filter((id) => id > cursor);
        assert.deepEqual(
          ids,
          Array.from({ length: end - cursor }, (_, index) => cursor + index + 1),
        );
      }),
      { numRuns: 40 },
    ));

  it('keeps the newest chunks, within its bound of bytes [never.unbounded]', () =>
    fc.assert(
      fc.property(lengths, fc.integer({ min: 4_000, max: 20_000 }), (list, bytesMax) => {
        const { ring, end } = filled(list, { bytesMax, ageMs: 60_000 });
        assert.ok(ring.bytes <= bytesMax);
        assert.notEqual(ring.since(BigInt(end - 1)), null);
      }),
    ));

  it('removes chunks that are too old, also without new ones', async () => {
    const { ring } = filled([1, 1], { bytesMax: 10_000, ageMs: 0 });
    await new Promise((resolve) => setTimeout(resolve, 2));
    ring.trim();
    assert.equal(ring.bytes, 0);
    assert.equal(ring.since(1n), null);
  });

  it('stores who gained or lost a group in a chunk, and no other people', () => {
    const ring = new Ring({ bytesMax: 10_000, ageMs: 60_000 });
    const joins: StoredEntry = {
      ...action(1, 'person'),
      action: 'INSERT',
      modelName: 'WorkspaceMember',
      record: { id: 'm', workspaceId: 'w' },
    };
    const changes: StoredEntry = { ...joins, syncId: '2', action: 'UPDATE', groupId: 'other person' };
    const pushed = ring.push(chunkAfter('e', '0', [joins, changes]));
    assert.deepEqual([...pushed.withGainOrLoss], ['person']);
    assert.equal(pushed.entries[0]?.gainedOrLost, 'w');
  });

  describe('counts its size in the heap', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const heapBytes = (): number => {
      // The second collection frees what is only weakly referenced.
      collect();
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const record = (text: string): ModelRecord => ({ id: crypto.randomUUID(), title: text, description: text });

    for (const [what, length, text] of [
      ['single entries', 1, 'a task of a few words'],
      ['large chunks', 100, 'a task of a few words'],
      ['long texts', 1, 'lorem ipsum '.repeat(150)],
      ['texts of another alphabet', 10, 'задача в несколько слов '.repeat(8)],
    ] as const)
      it(`for ${what}, of this process and of others`, () => {
        // What the code itself takes when it runs for the first time is not of the entries.
        filled(300);
        const before = heapBytes();
        const ring = filled(3_000);
        const taken = heapBytes() - before;
        assert.ok(taken < ring.bytes * 1.1, `${taken} bytes are taken, ${ring.bytes} are counted`);
        assert.ok(taken > ring.bytes * 0.5, `${taken} bytes are taken, ${ring.bytes} are counted`);

        function filled(entries: number): Ring {
          const into = new Ring({ bytesMax: 16 * 1024 * 1024, ageMs: 600_000 });
          for (let after = 0; after < entries; after += length) {
            const read = chunk(after, length, (id) => {
              const data = record(`${id} ${text}`);
              return { ...action(id, crypto.randomUUID()), modelId: data.id, data, record: data };
            });
            // Once decoded from the wire; once from a commit, which stores the encoded text of each entry with it.
            const chunkOfOthers = decodeChunk(encodeChunk(read));
            if (after % 200 === 0) encodeChunk(chunkOfOthers);
            into.push(chunkOfOthers);
          }
          return into;
        }
      });
  });
});

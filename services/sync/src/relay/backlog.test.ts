import assert from 'node:assert/strict';
import { chunkAfter, STREAM_LIMITS } from '@wts/log/stream';
import type { EntryChunk, StoredEntry } from '@wts/contracts';
import * as fc from 'fast-check';
import { Backlog } from './backlog.ts';

function chunk(after: number, length: number, bytes = 10): EntryChunk {
  const [first, ...rest] = Array.from({ length }, (_, index) => ({
    syncId: String(after + index + 1),
    data: { text: 'x'.repeat(bytes) },
    record: {},
  })) as unknown as StoredEntry[];
  return chunkAfter('e', String(after), [first!, ...rest]);
}

describe('the backlog of the relay', () => {
  it('joins consecutive chunks, in whatever order they arrived, up to the size of a message', () => {
    const sizes = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 60_000 })), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(sizes, fc.infiniteStream(fc.nat()), (list, order) => {
        let end = 0;
        const chunks = list.map(([length, bytes]) => chunk((end += length) - length, length, bytes));
        const shuffled = chunks
          .map((one) => ({ one, rank: Number(order.next().value) }))
          .toSorted((a, b) => a.rank - b.rank);
        const backlog = new Backlog();
        for (const { one } of shuffled) backlog.add(one);
        const ids: string[] = [];
        let cursor = 0n;
        for (let taken = backlog.take('e', cursor); taken !== null; taken = backlog.take('e', cursor)) {
          assert.equal(taken.prev, cursor.toString());
          const bytes = taken.actions.reduce((sum, action) => sum + JSON.stringify(action).length, 0);
          assert.ok(bytes <= STREAM_LIMITS.chunkBytesMax);
          ids.push(...taken.actions.map(({ syncId }) => syncId));
          cursor = BigInt(taken.last);
        }
        // The backlog was cleared at its bound; the chunks left do not follow the cursor.
        assert.deepEqual(
          ids,
          Array.from({ length: ids.length }, (_, index) => String(index + 1)),
        );
        if (end * 60_100 < 8 * 1024 * 1024) {
          assert.equal(ids.length, end);
          assert.equal(backlog.bytes, 0);
        }
      }),
    );
  });

  it('takes no chunk of another epoch or beyond a hole, and removes what the stream has', () => {
    const backlog = new Backlog();
    backlog.add(chunk(3, 2));
    assert.equal(backlog.take('e', 2n), null);
    assert.equal(backlog.take('other', 3n), null);
    backlog.removeUpTo(5n);
    assert.equal(backlog.bytes, 0);
  });

  it('holds a bounded number of bytes, however long the broker is down [never.unbounded]', () => {
    const backlog = new Backlog();
    for (let after = 0; after < 1_000; after += 1) {
      backlog.add(chunk(after, 1, 50_000));
      assert.ok(backlog.bytes <= 8 * 1024 * 1024);
    }
  });
});

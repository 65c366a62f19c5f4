import assert from 'node:assert/strict';
import { chunk } from '../../test/entries.ts';
import { WaitingChunks } from './waiting-chunks.ts';
import { chunkBytes } from './chunk.ts';

describe('chunks beyond a hole', () => {
  it('wait up to a bound in bytes; after a dropped one the log is reported as incomplete [never.unbounded]', () => {
    const one = chunkBytes(chunk(10, 20));
    const waiting = new WaitingChunks(3.5 * one);
    // Entries 1 to 10 never arrive, so nothing can be taken.
    for (let at = 10; at < 1_000; at += 10) waiting.add(chunk(at, at + 10), 0n);
    assert.equal(waiting.take(0n), null);
    assert.equal(waiting.isIncomplete, true);
    // The first chunks wait; the others were dropped and are read from the log.
    for (const at of [10n, 20n, 30n]) assert.equal(waiting.take(at)?.prev, String(at));
    assert.equal(waiting.take(40n), null);
    assert.equal(waiting.isIncomplete, true, 'the dropped chunks are still to be read');
    waiting.markRead();
    assert.equal(waiting.isIncomplete, false);
    // A chunk that was taken counts no longer.
    waiting.add(chunk(40, 50), 40n);
    assert.equal(waiting.take(40n)?.last, '50');
  });
});

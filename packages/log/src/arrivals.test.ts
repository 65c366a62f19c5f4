import assert from 'node:assert/strict';
import { chunk } from '../test/actions.ts';
import { Arrivals } from './arrivals.ts';
import { chunkBytes } from './chunk.ts';

describe('chunks that arrived', () => {
  it('beyond a hole are kept up to a bound and no further, and it is known that some were turned away [never.unbounded]', () => {
    const one = chunkBytes(chunk(10, 20));
    const arrivals = new Arrivals(3.5 * one);
    // Place 1 to 10 never comes, so that nothing can be taken.
    for (let at = 10; at < 1_000; at += 10) arrivals.offer(chunk(at, at + 10), 0n);
    assert.equal(arrivals.take(0n), null);
    assert.equal(arrivals.incomplete, true);
    // What was kept is the beginning of what came; the rest is read from the log.
    for (const at of [10n, 20n, 30n]) assert.equal(arrivals.take(at)?.prev, String(at));
    assert.equal(arrivals.take(40n), null);
    assert.equal(arrivals.incomplete, true, 'what was turned away is still to be read');
    arrivals.settle();
    assert.equal(arrivals.incomplete, false);
    // What was taken gave its room back.
    arrivals.offer(chunk(40, 50), 40n);
    assert.equal(arrivals.take(40n)?.last, '50');
  });
});

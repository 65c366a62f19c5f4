import assert from 'node:assert/strict';
import { outOfOrder } from './order.ts';

const arrivals = (...pairs: readonly (readonly [nth: number, position: number])[]) =>
  pairs.map(([nth, position]) => ({ nth, position, atMs: 0, modelId: '' }));

describe('the order of webhooks', () => {
  it('is judged for each endpoint', () => assert.equal(outOfOrder(arrivals([0, 7], [1, 2], [0, 9], [1, 3])), 0));

  it('counts what arrives after a later event, and what arrives twice', () =>
    assert.equal(outOfOrder(arrivals([0, 7], [0, 6], [0, 8], [0, 8])), 2));
});

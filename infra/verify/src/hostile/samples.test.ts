import assert from 'node:assert/strict';
import { latencies, type Sample } from './samples.ts';

describe('what an honest person met', () => {
  const sample = (tookMs: number, more: Partial<Sample> = {}): Sample => ({
    deed: 'write',
    atMs: 0,
    tookMs,
    refusal: null,
    ...more,
  });

  it('is told for each deed, and counts refused ones by the time they took', () => {
    const writes = Array.from({ length: 98 }, (_, index) => sample(index));
    const { write, deltas } = latencies([
      ...writes,
      sample(15_000, { refusal: '503' }),
      sample(900),
      sample(7, { deed: 'deltas' }),
    ]);
    assert.deepEqual(write, { count: 100, p50Ms: 50, p99Ms: 15_000, refused: 1 });
    assert.deepEqual(deltas, { count: 1, p50Ms: 7, p99Ms: 7, refused: 0 });
  });
});

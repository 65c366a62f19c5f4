import assert from 'node:assert/strict';
import { latencies, type RequestSample } from './samples.ts';

describe('latencies of an honest person', () => {
  const sample = (tookMs: number, more: Partial<RequestSample> = {}): RequestSample => ({
    kind: 'write',
    atMs: 0,
    tookMs,
    refusal: null,
    ...more,
  });

  it('are given for each kind of request and include refused requests', () => {
    const writes = Array.from({ length: 98 }, (_, index) => sample(index));
    const { write, deltas } = latencies([
      ...writes,
      sample(15_000, { refusal: '503' }),
      sample(900),
      sample(7, { kind: 'deltas' }),
    ]);
    assert.deepEqual(write, { count: 100, p50Ms: 50, p99Ms: 15_000, refused: 1 });
    assert.deepEqual(deltas, { count: 1, p50Ms: 7, p99Ms: 7, refused: 0 });
  });
});

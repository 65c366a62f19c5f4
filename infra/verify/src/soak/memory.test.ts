import assert from 'node:assert/strict';
import { leastSquares } from './memory.ts';

describe('the slope of memory', () => {
  it('is the growth of each minute, with noise in its error', () => {
    const line = (perMinute: number, noise: number) =>
      Array.from({ length: 120 }, (_, index) => ({
        atMs: index * 1_000,
        megabytes: 100 + (index / 60) * perMinute + (index % 2 === 0 ? noise : -noise),
      }));
    assert.ok(Math.abs(leastSquares(line(3, 0)).slope - 3) < 1e-9);
    const noisy = leastSquares(line(0, 5));
    assert.ok(Math.abs(noisy.slope) < 2 * noisy.error && noisy.error > 0.3);
  });
});

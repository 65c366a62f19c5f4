import assert from 'node:assert/strict';
import { CalmTimes } from './calm-times.ts';

describe('calm times', () => {
  it('tell how long work waited beyond twice its usual time, each kind by itself', () => {
    const times = new CalmTimes();
    assert.equal(times.waitedMs('page', 40), 0);
    assert.equal(times.waitedMs('page', 4), 0);
    assert.equal(Math.round(times.waitedMs('page', 28)), 20);
    assert.equal(times.waitedMs('report', 500), 0);
    assert.equal(times.waitedMs('report', 900), 0);
  });

  it('do not become long in a busy hour', () => {
    const times = new CalmTimes();
    times.waitedMs('page', 5);
    for (let each = 0; each < 100; each += 1) times.waitedMs('page', 20);
    assert.ok(times.waitedMs('page', 20) > 5);
  });
});

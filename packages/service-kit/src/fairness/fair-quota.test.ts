import assert from 'node:assert/strict';
import { FairQuota } from './fair-quota.ts';

describe('the fair quota', () => {
  it('admits at most a quarter for each person, and keeps a reserve for work that has started [never.unbounded]', () => {
    const quota = new FairQuota(100, { reserved: 25 });
    assert.equal(quota.admits('a', 26), false);
    const held = [quota.hold('a', 20), quota.hold('a', 5)];
    assert.equal(quota.hold('a', 1), undefined);
    for (const person of ['b', 'c']) quota.add(person, 25);
    assert.equal(quota.hold('d', 1), undefined, 'the reserve');
    for (const one of [...held, ...held]) one?.[Symbol.dispose]();
    assert.deepEqual([quota.of('a'), quota.total], [0, 50]);
    assert.ok(quota.hold('d', 12));
  });

  it('leaves something for the next person, however many hold their maximum', () => {
    const quota = new FairQuota(1000);
    for (let person = 0; person < 15; person += 1) {
      assert.ok(quota.hold(`${person}`, 1), `nothing is left for ${person}`);
      while (quota.hold(`${person}`, 1));
    }
  });

  it('is tight first for people over their share, then for all', () => {
    const quota = new FairQuota(100, { reserved: 25 });
    quota.add('a', 40);
    assert.deepEqual([quota.isTight('a'), quota.isFull('a')], [false, false]);
    quota.add('b', 20);
    assert.deepEqual([quota.isTight('a'), quota.isTight('b')], [true, false]);
    quota.add('a', 11);
    assert.deepEqual([quota.isFull('a'), quota.isFull('b')], [true, false]);
    quota.move('a', 'c', 20);
    assert.deepEqual([quota.isFull('a'), quota.of('c')], [false, 20]);
    quota.add('d', 10);
    assert.equal(quota.isTight('b'), true);
    quota.add('d', 20);
    assert.equal(quota.isFull('b'), true);
  });
});

import assert from 'node:assert/strict';
import { Holdings } from './holdings.ts';

describe('what people hold', () => {
  it('is a quarter for each of them at most, and leaves a reserve to what is under way [never.unbounded]', () => {
    const holdings = new Holdings(100, 25);
    assert.equal(holdings.admits('a', 26), false);
    const held = [holdings.hold('a', 20), holdings.hold('a', 5)];
    assert.equal(holdings.hold('a', 1), undefined);
    for (const person of ['b', 'c']) holdings.add(person, 25);
    assert.equal(holdings.hold('d', 1), undefined, 'the reserve');
    for (const one of [...held, ...held]) one?.[Symbol.dispose]();
    assert.deepEqual([holdings.of('a'), holdings.total], [0, 50]);
    assert.ok(holdings.hold('d', 12));
  });

  it('always leaves something to the next one, however many hold all they may', () => {
    const holdings = new Holdings(1000);
    for (let person = 0; person < 15; person += 1) {
      assert.ok(holdings.hold(`${person}`, 1), `nothing is left for ${person}`);
      while (holdings.hold(`${person}`, 1));
    }
  });

  it('runs short for those who hold more than a share, then for all', () => {
    const holdings = new Holdings(100, 25);
    holdings.add('a', 40);
    assert.deepEqual([holdings.isTight('a'), holdings.isFull('a')], [false, false]);
    holdings.add('b', 20);
    assert.deepEqual([holdings.isTight('a'), holdings.isTight('b')], [true, false]);
    holdings.add('a', 11);
    assert.deepEqual([holdings.isFull('a'), holdings.isFull('b')], [true, false]);
    holdings.move('a', 'c', 20);
    assert.deepEqual([holdings.isFull('a'), holdings.of('c')], [false, 20]);
    holdings.add('d', 10);
    assert.equal(holdings.isTight('b'), true);
    holdings.add('d', 20);
    assert.equal(holdings.isFull('b'), true);
  });
});

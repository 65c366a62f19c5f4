import assert from 'node:assert/strict';
import { alternate, median, ratioOf } from './rounds.ts';

describe('rounds', () => {
  it('alternate the order, and keep the results of each contender in order', async () => {
    const order: string[] = [];
    const turn = (name: string) => async () => order.push(name);
    const { a, b } = await alternate(3, { a: turn('a'), b: turn('b') });
    assert.deepEqual(order, ['a', 'b', 'b', 'a', 'a', 'b']);
    assert.deepEqual(
      [a, b],
      [
        [1, 4, 5],
        [2, 3, 6],
      ],
    );
  });

  it('skip a contender that is undefined', async () => {
    const { ours, peer } = await alternate(2, { ours: async () => 1, peer: undefined });
    assert.deepEqual([ours, peer], [[1, 1], []]);
  });

  it('are summarized by the middle one', () => {
    const rounds = [{ perSecond: 10 }, { perSecond: 1_000 }, { perSecond: 12 }];
    assert.equal(median(rounds, ({ perSecond }) => perSecond).perSecond, 12);
    assert.throws(() => median([], () => 0), /at least one round/);
  });

  it('give the ratio of the medians, and the range over the rounds', () => {
    assert.deepEqual(ratioOf([100, 50, 120], [10, 10, 20]), { middle: 10, least: 5, most: 10 });
    assert.equal(ratioOf([100], []), null);
  });
});

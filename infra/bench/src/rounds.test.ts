import assert from 'node:assert/strict';
import { inTurns, median, ratioOf } from './rounds.ts';

describe('rounds', () => {
  it('turn the order round each time, and keep the results of each in order', async () => {
    const order: string[] = [];
    const turn = (name: string) => async () => order.push(name);
    const { a, b } = await inTurns(3, { a: turn('a'), b: turn('b') });
    assert.deepEqual(order, ['a', 'b', 'b', 'a', 'a', 'b']);
    assert.deepEqual(
      [a, b],
      [
        [1, 4, 5],
        [2, 3, 6],
      ],
    );
  });

  it('go on without a contender who is not there', async () => {
    const { ours, peer } = await inTurns(2, { ours: async () => 1, peer: undefined });
    assert.deepEqual([ours, peer], [[1, 1], []]);
  });

  it('are judged by the middle one', () => {
    const rounds = [{ perSecond: 10 }, { perSecond: 1_000 }, { perSecond: 12 }];
    assert.equal(median(rounds, ({ perSecond }) => perSecond).perSecond, 12);
    assert.throws(() => median([], () => 0), /at least one round/);
  });

  it('give a ratio of what is shown, and how far the rounds disagree', () => {
    assert.deepEqual(ratioOf([100, 50, 120], [10, 10, 20]), { middle: 10, least: 5, most: 10 });
    assert.equal(ratioOf([100], []), null);
  });
});

import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { Rounds, type Puller, type SharedPackets } from './rounds.ts';

describe('rounds', () => {
  it('serve all waiting sockets up to one horizon, which share packets', async () => {
    let horizon = 1n;
    const seen: [bigint, SharedPackets][] = [];
    const rounds = new Rounds(
      () => horizon,
      () => {},
    );
    const one = (): Puller => ({
      pull: (upTo, shared) => {
        seen.push([upTo, shared]);
        horizon += 1n;
      },
    });
    for (let count = 0; count < 3; count += 1) rounds.enqueue(one());
    await eventually(() => seen.length === 3);
    assert.deepEqual(
      seen.map(([upTo]) => upTo),
      [1n, 1n, 1n],
    );
    assert.equal(new Set(seen.map(([, shared]) => shared)).size, 1);
    rounds.enqueue(one());
    await eventually(() => seen.length === 4);
    assert.equal(seen.at(-1)?.[0], 4n);
    assert.notEqual(seen.at(-1)?.[1], seen[0]?.[1]);
  });

  it('serve a socket that is queued during a round in the next one', async () => {
    let pulls = 0;
    const rounds = new Rounds(
      () => 0n,
      () => {},
    );
    const again: Puller = {
      pull: () => {
        pulls += 1;
        if (pulls < 3) rounds.enqueue(again);
      },
    };
    rounds.enqueue(again);
    rounds.enqueue(again);
    await eventually(() => pulls === 3);
  });
});

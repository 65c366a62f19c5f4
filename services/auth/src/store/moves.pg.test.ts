import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openTestStore } from '../../test/store.ts';
import { moveStore, type MoveStore, type StoredMove } from './moves.ts';

describe('the stored moves of workspaces', () => {
  it('either reach the switch or are given up, whichever is stored first [operator.move.cancel]', async () => {
    await using store = await openTestStore('moves');
    const moves = moveStore(store.knex);
    const begin = async (): Promise<StoredMove> => {
      const id = randomUUID();
      const move = { id, workspaceId: randomUUID(), name: 'W', urlKey: 'w', source: 0, target: 1, operatorId: id };
      assert.ok(await moves.insert(move));
      await advance(moves, await found(id), 'endpoints');
      return found(id);
    };
    const found = async (id: string): Promise<StoredMove> => {
      const move = await moves.find(id);
      assert.ok(move);
      return move;
    };
    // The step before the switch ends as it was read before the operator gave the move up.
    const cancelled = await begin();
    assert.equal(await moves.cancel(cancelled.id), true);
    await advance(moves, cancelled, 'switch');
    assert.deepEqual([(await found(cancelled.id)).step, (await found(cancelled.id)).isCancelled], ['endpoints', true]);
    await advance(moves, await found(cancelled.id), 'thaw');
    assert.equal((await found(cancelled.id)).step, 'thaw');

    const switched = await begin();
    await advance(moves, switched, 'switch');
    assert.equal(await moves.cancel(switched.id), false);
    assert.deepEqual([(await found(switched.id)).step, (await found(switched.id)).isCancelled], ['switch', false]);
  });
});

function advance(moves: MoveStore, move: StoredMove, step: StoredMove['step']): Promise<void> {
  return moves.advance(move, { step, at: {}, records: 0, problem: null, isEnded: false, holding: null });
}

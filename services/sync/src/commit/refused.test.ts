import assert from 'node:assert/strict';
import { Refused } from './refused.ts';
import { refuse } from './refusal.ts';
import type { Mutation, Unit } from './unit.ts';

describe('changes that were too much', () => {
  it('are refused again without a look, and kept where they are small only [never.unbounded]', () => {
    const refused = new Refused();
    const refusal = refuse('conflict', 'Too much');
    const update = (title: string): Mutation => ({
      modelName: 'Task',
      modelId: 'id',
      action: 'UPDATE',
      payload: { title },
    });
    const unitOf = (mutation: Mutation): Unit => ({
      principal: { userId: 'ada', scopes: ['write'], credential: { kind: 'jwt', id: 'ada' } },
      authority: 'caller',
      clientId: 'c',
      clientTxId: 't',
      mutations: [mutation],
    });
    for (const [mutation, found] of [
      [update('T'), refusal],
      [update('x'.repeat(50_000)), undefined],
    ] as const) {
      refused.keep(unitOf(mutation), mutation, refusal);
      assert.equal(refused.find(unitOf(mutation), mutation), found);
    }
  });
});

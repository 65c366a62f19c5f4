import assert from 'node:assert/strict';
import { RefusalCache } from './refusal-cache.ts';
import type { Mutation, Unit } from '../decision/unit.ts';

describe('a change that was too large', () => {
  it('is refused again from the cache, which keeps small payloads only [never.unbounded]', () => {
    const cache = new RefusalCache();
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
      [update('T'), 'Too much'],
      [update('x'.repeat(50_000)), undefined],
    ] as const) {
      cache.add(unitOf(mutation), 'Too much');
      assert.equal(cache.find(unitOf(mutation), mutation), found);
    }
  });
});

import assert from 'node:assert/strict';
import { FAILED_CREDENTIALS, parseRateLimits, RATE_POLICIES, withLimit } from './policies.ts';

describe('the policies of rates', () => {
  it('have names of their own', () => {
    const names = [...RATE_POLICIES, FAILED_CREDENTIALS].map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });

  it('take other numbers from the operator, and refuse what they do not know', () => {
    assert.deepEqual(parseRateLimits('{"rest": 5, "graphql": 0}'), { rest: 5, graphql: 0 });
    for (const wrong of [[], null, 'rest', { reest: 5 }, { rest: -1 }, { rest: 1.5 }, { rest: '5' }]) {
      assert.throws(() => parseRateLimits(JSON.stringify(wrong)), JSON.stringify(wrong));
    }
    assert.equal(withLimit(FAILED_CREDENTIALS, { credentials: 0 }), null);
    assert.equal(withLimit(FAILED_CREDENTIALS, { credentials: 3 })?.limit, 3);
  });
});

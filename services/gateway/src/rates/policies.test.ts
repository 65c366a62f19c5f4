import assert from 'node:assert/strict';
import { FAILED_CREDENTIALS, parseRateLimits, RATE_POLICIES, withLimit } from './policies.ts';

describe('the rate policies', () => {
  it('have unique names', () => {
    const names = [...RATE_POLICIES, FAILED_CREDENTIALS].map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });

  it('take rates from the operator, and refuse unknown names and wrong values', () => {
    assert.deepEqual(parseRateLimits('{"rest": 5, "graphql": 0, "mcp": "7/5s"}'), {
      rest: { limit: 5 },
      graphql: { limit: 0 },
      mcp: { limit: 7, windowSeconds: 5 },
    });
    for (const wrong of [
      [],
      null,
      'rest',
      5,
      { reest: 5 },
      { rest: -1 },
      { rest: 1.5 },
      { rest: null },
      { rest: '5s' },
    ]) {
      assert.throws(() => parseRateLimits(JSON.stringify(wrong)), JSON.stringify(wrong));
    }
    assert.equal(withLimit(FAILED_CREDENTIALS, { credentials: { limit: 0 } }), null);
    assert.equal(withLimit(FAILED_CREDENTIALS, { credentials: { limit: 3 } })?.limit, 3);
  });

  it('of sync are off until the operator sets one, for persons or for networks [limits.rate.sync]', () => {
    const on = (text: string): string[] =>
      RATE_POLICIES.flatMap((policy) => withLimit(policy, parseRateLimits(text)) ?? [])
        .filter(({ name }) => name.startsWith('sync.'))
        .map(({ name, limit, windowSeconds, per }) => `${name} ${limit}/${windowSeconds} ${per}`);
    assert.deepEqual(on('rest=1'), []);
    assert.deepEqual(on('sync.mutate=600/10s, sync.bootstrap.network=20'), [
      'sync.mutate 600/10 person',
      'sync.bootstrap.network 20/60 address',
    ]);
    for (const wrong of [
      'sync.mutate',
      'sync.mutate=',
      'sync.mutate=600/10',
      'sync.other=5',
      '=5',
      'rest=1000=5',
      'rest=1/0s',
      'rest=1/9999s',
    ]) {
      assert.throws(() => parseRateLimits(wrong), wrong);
    }
  });
});

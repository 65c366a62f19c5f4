import assert from 'node:assert/strict';
import { ERRORS } from './errors.ts';

/** Published sync clients take an error whose text holds one of these for a bad connection, and try again for ever. */
const TRIED_AGAIN = /network|fetch|timeout|timed out|aborted|econnrefused/i;

describe('the errors of the interface', () => {
  it('have no word that makes published clients repeat a request that cannot succeed [sync.mutate.results]', () => {
    for (const [code, { error, retryable }] of Object.entries<{ error: string; retryable?: true }>(ERRORS)) {
      if (!retryable) assert.doesNotMatch(JSON.stringify({ error, code }), TRIED_AGAIN);
    }
  });
});

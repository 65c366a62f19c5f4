/** What a process of a test needs too, without the testkit: a process loads that longer than all else. */
import { request } from 'undici';
import type { AttemptError, SendAttempt } from '../src/domain/attempt.ts';

/** An answer with this status ends the process of a replica, as a fault in reading an answer would. */
export const FATAL_STATUS = 299;

/** Plain HTTP without a guard: what the lanes are given in these tests instead of the one that goes out. */
export function plainSender(deadlineMs: number): SendAttempt {
  return async ({ url, eventId, body, secrets, beginsAtMs }) => {
    const startedAt = new Date();
    const began = performance.now();
    const result = (statusCode: number | null, error: AttemptError | null) => ({
      startedAt,
      durationMs: performance.now() - began,
      statusCode,
      error,
      snippet: null,
      retryAfterMs: null,
    });
    try {
      const signal = AbortSignal.timeout(deadlineMs);
      const headers = {
        'webhook-id': eventId,
        'x-begins-at': String(beginsAtMs),
        'x-secrets': secrets.map((one) => one.toString('hex')).join(' '),
      };
      const answer = await request(url, { method: 'POST', headers, body, signal });
      await answer.body.dump();
      const isSuccess = answer.statusCode >= 200 && answer.statusCode < 300;
      return result(answer.statusCode, isSuccess ? null : 'http_status');
    } catch (error) {
      return result(null, (error as Error).name === 'TimeoutError' ? 'timeout' : 'connection_reset');
    }
  };
}

import type { ErrorCode } from '@wts/contracts';

/**
 * A change that may not be: a value, not a fault. `error` is read by people and by clients that retry on certain words,
 * so it never holds SQL, a value from outside, or the words network, fetch, timeout and aborted. Keeps sync.mutate.results.
 */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly error: string;
}

export function refuse(code: ErrorCode, error: string): Refusal {
  return { ok: false, code, error };
}

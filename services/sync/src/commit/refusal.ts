import type { ErrorCode } from '@wts/contracts';

/**
 * The result of a mutation that is not allowed or not possible: a value, not a fault. People read `error`, and clients retry on certain words in it,
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

import { SyncError } from './error.ts';

export interface RetryOptions {
  /** Upper bound of the first pause; each further one doubles it. Default 500. */
  readonly firstPauseMs?: number;
  /** Upper bound of every pause. Default 30 000. */
  readonly pauseMsMax?: number;
}

export interface CallOptions {
  /** Ends the call immediately. */
  readonly signal?: AbortSignal;
  /** All attempts together. Default 30 000. */
  readonly deadlineMs?: number;
}

const DEADLINE_MS = 30_000;

/**
 * Exponential backoff with full jitter, so that clients that lost their connections together reconnect at different times. A pause is
 * never shorter than the Retry-After of the server.
 */
export class Backoff {
  readonly #firstPauseMs: number;
  readonly #pauseMsMax: number;
  #failures = 0;

  constructor({ firstPauseMs = 500, pauseMsMax = 30_000 }: RetryOptions = {}) {
    this.#firstPauseMs = firstPauseMs;
    this.#pauseMsMax = pauseMsMax;
  }

  reset(): void {
    this.#failures = 0;
  }

  nextPauseMs(error: unknown): number {
    const bound = Math.min(this.#pauseMsMax, this.#firstPauseMs * 2 ** this.#failures);
    this.#failures += 1;
    const retryAfterMs = error instanceof SyncError ? (error.retryAfterMs ?? 0) : 0;
    return Math.ceil(retryAfterMs + Math.random() * bound);
  }
}

/**
 * Retries until an attempt succeeds or fails permanently, or the deadline is over. What is not repeatable is only sent again after
 * 429, because the server refuses that before it does anything.
 */
export async function retrying<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { signal, deadlineMs = DEADLINE_MS, isRepeatable = true }: CallOptions & { readonly isRepeatable?: boolean },
  retry: RetryOptions,
): Promise<T> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  const backoff = new Backoff(retry);
  let last: unknown;
  for (;;) {
    try {
      return await attempt(either);
    } catch (error) {
      signal?.throwIfAborted();
      if (!deadline.aborted) last = error;
      if (!isTemporary(error) || !(isRepeatable || isRateLimited(error))) throw error;
    }
    await pause(backoff.nextPauseMs(last), either).catch(() => {});
    signal?.throwIfAborted();
    if (deadline.aborted) {
      const reason = last instanceof Error ? `; the last attempt: ${last.message}` : '';
      throw new SyncError('deadline_exceeded', `No answer in ${deadlineMs} ms${reason}`, { cause: last });
    }
  }
}

function isRateLimited(error: unknown): boolean {
  return error instanceof SyncError && error.status === 429;
}

export function isTemporary(error: unknown): boolean {
  return error instanceof SyncError && error.isTemporary;
}

/** Rejects with the reason of the signal when that aborts first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

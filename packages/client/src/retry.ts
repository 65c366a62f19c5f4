import { SyncError } from './error.ts';

export interface RetryOptions {
  /** Upper bound of the first pause; each further one doubles it. Default 500. */
  readonly firstPauseMs?: number;
  /** Upper bound of every pause. Default 30 000. */
  readonly pauseMsMax?: number;
  /** Called before each pause within a call, with what failed. */
  readonly onPause?: (pauseMs: number, error: unknown) => void;
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
    return Math.ceil(retryAfterMsOf(error) + Math.random() * bound);
  }
}

/**
 * Retries until an attempt succeeds or fails permanently, or the deadline is over. What is not repeatable is only sent again after
 * 429, because the server refuses that before it does anything. What the server asks to send again after the deadline fails at once.
 */
export async function retrying<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { signal, deadlineMs = DEADLINE_MS, isRepeatable = true }: CallOptions & { readonly isRepeatable?: boolean },
  retry: RetryOptions,
): Promise<T> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const either = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  const endMs = performance.now() + deadlineMs;
  const backoff = new Backoff(retry);
  let last: unknown;
  for (;;) {
    try {
      return await attempt(either);
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTemporary(error) || !(isRepeatable || isRateLimited(error))) throw error;
      if (!deadline.aborted) {
        last = error;
        const pauseMs = backoff.nextPauseMs(error);
        if (retryAfterMsOf(error) > 0 && pauseMs > endMs - performance.now()) throw error;
        retry.onPause?.(pauseMs, error);
        await pause(pauseMs, either).catch(() => {});
      }
    }
    signal?.throwIfAborted();
    if (deadline.aborted) {
      const reason = last instanceof Error ? `; the last attempt: ${last.message}` : '';
      throw new SyncError('deadline_exceeded', `No answer in ${deadlineMs} ms${reason}`, { cause: last });
    }
  }
}

function retryAfterMsOf(error: unknown): number {
  return error instanceof SyncError ? (error.retryAfterMs ?? 0) : 0;
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

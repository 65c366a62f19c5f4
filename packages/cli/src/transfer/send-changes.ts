import { setTimeout as pause } from 'node:timers/promises';
import { SyncError, type Change, type ChangeResult, type MutateOutcome, type SyncClient } from '@wts/client';
import { CliFault } from '../fault.ts';
import type { Progress } from '../output/progress.ts';

/** How many changes one request may have, and about how many bytes: the server takes 100, in 4 MiB. */
export const BATCH_CHANGES_MAX = 100;
export const BATCH_BYTES_MAX = 3 * 1024 * 1024;
/** Of a change, besides its payload. */
export const CHANGE_BYTES = 400;

/** Without any reply for this long, the import stops; the same command continues it. */
const PATIENCE_MS = 10 * 60_000;
/** How long the client tries before people are told. */
const ATTEMPTS_MS = 30_000;

/** Changes that the service cannot make just now are sent again, with all of their request because of their order. */
const TRIES_MAX = 5;
const PAUSE_MS = 1_000;

function mayPass(result: ChangeResult): boolean {
  return !result.success && result.code === 'unavailable';
}

export interface SendOptions {
  readonly sync: SyncClient;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** For tests: after which time without a reply the work stops, and the pause before changes are sent again. */
  readonly patienceMs?: number;
  readonly pauseMs?: number;
}

/**
 * Makes changes, each once: while no reply comes, or the server refuses requests for now, they are sent again with the same ids, after
 * the pauses that the client makes.
 */
export async function sendChanges(
  changes: readonly Change[],
  { sync, progress, signal, patienceMs = PATIENCE_MS, pauseMs = PAUSE_MS }: SendOptions,
): Promise<MutateOutcome> {
  const startedMs = performance.now();
  for (let tries = 1; ; tries += 1) {
    try {
      const outcome = await sync.mutate(changes, { deadlineMs: Math.min(ATTEMPTS_MS, patienceMs), signal });
      if (tries >= TRIES_MAX || !outcome.results.some(mayPass)) return outcome;
      progress.note('The service could not make some changes yet; trying again');
      await pause(pauseMs, undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SyncError) || !(error.isTemporary || error.code === 'deadline_exceeded')) throw error;
      if (performance.now() - startedMs > patienceMs)
        throw new CliFault('unreachable', `The server does not answer: ${error.message}.`, {
          hint: 'Run the same command again: it goes on where it stopped.',
          cause: error,
        });
      progress.note(`${error.message}; trying again`);
      // Longer than the time of a call, or the client would have waited.
      await pause(error.retryAfterMs ?? 0, undefined, { signal });
    }
  }
}

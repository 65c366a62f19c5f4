import { SyncError } from '@wts/client';
import type { Change, ChangeResult, SyncClient } from '@wts/client';
import { CliFault } from '../fault.ts';
import type { Progress } from '../output/progress.ts';

/** How many changes one request may have, and about how many bytes: the server takes 100, in 4 MiB. */
export const BATCH_CHANGES_MAX = 100;
export const BATCH_BYTES_MAX = 3 * 1024 * 1024;
/** Of a change, besides its payload. */
export const CHANGE_BYTES = 400;

/** Without any reply for this long, the import stops; the same command continues it. */
const PATIENCE_MS = 10 * 60_000;

export interface SendOptions {
  readonly sync: SyncClient;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  readonly patienceMs?: number;
}

/**
 * Makes changes, each once: while no reply comes, or the server refuses requests for now, they are sent again with the same ids, after
 * the pauses that the client makes.
 */
export async function sendChanges(
  changes: readonly Change[],
  { sync, progress, signal, patienceMs = PATIENCE_MS }: SendOptions,
): Promise<readonly ChangeResult[]> {
  const startedMs = performance.now();
  for (;;) {
    try {
      const { results } = await sync.mutate(changes, signal === undefined ? {} : { signal });
      return results;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof SyncError) || !(error.isTemporary || error.code === 'deadline_exceeded')) throw error;
      if (performance.now() - startedMs > patienceMs)
        throw new CliFault('unreachable', `The server does not answer: ${error.message}.`, {
          hint: 'Run the same command again: it goes on where it stopped.',
          cause: error,
        });
      progress.note(`${error.message}; trying again`);
    }
  }
}

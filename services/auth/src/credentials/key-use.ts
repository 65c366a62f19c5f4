import { every, type BackgroundContext } from '@wts/service-kit/background';
import type { ApiKeyStore } from '../store/api-keys.ts';
import { AUTH_LIMITS } from '../limits.ts';

const FLUSH_MS = 2_000;
/** Keys in memory between two writes; further uses are not recorded, which only delays `lastUsedAt`. */
const KEYS_MAX = 10_000;
const FAILING = 'could not write when API keys were last used; lastUsedAt of them is late';

export interface KeyUse extends AsyncDisposable {
  record(id: string): void;
}

/** Collects which keys are used and writes `lastUsedAt` in the background, for each key at most once a minute. */
export function openKeyUse(context: BackgroundContext, keys: Pick<ApiKeyStore, 'recordUse'>): KeyUse {
  /** When the use of each key was last written. */
  const writtenAt = new Map<string, number>();
  let unwritten = new Set<string>();

  const flush = async (): Promise<void> => {
    const now = Date.now();
    for (const [id, at] of writtenAt) if (now - at >= AUTH_LIMITS.apiKeyUseIntervalMs) writtenAt.delete(id);
    if (unwritten.size === 0) return;
    const ids = [...unwritten];
    unwritten = new Set();
    for (const id of ids) writtenAt.set(id, now);
    try {
      await keys.recordUse(ids, AUTH_LIMITS.apiKeyUseIntervalMs);
    } catch (failure) {
      for (const id of ids) writtenAt.delete(id);
      throw failure;
    }
  };

  const flushing = every(context, { name: 'key-use', everyMs: FLUSH_MS, run: flush, failing: FAILING });
  return {
    record: (id) => {
      if (!writtenAt.has(id) && unwritten.size + writtenAt.size < KEYS_MAX) unwritten.add(id);
    },
    [Symbol.asyncDispose]: async () => {
      await flushing[Symbol.asyncDispose]();
      await flush().catch((err: unknown) => context.log.warn({ err }, FAILING));
    },
  };
}

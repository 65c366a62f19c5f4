import type { Logger } from '@wts/service-kit/observe';
import type { ApiKeyStore } from '../store/api-keys.ts';
import { AUTH_LIMITS } from '../limits.ts';

const FLUSH_MS = 2_000;
/** Keys in memory between two writes; further uses are not recorded, which only delays `lastUsedAt`. */
const KEYS_MAX = 10_000;

export interface KeyUse extends AsyncDisposable {
  record(id: string): void;
}

/** Collects which keys are used and writes `lastUsedAt` in the background, for each key at most once a minute. */
export function openKeyUse(keys: Pick<ApiKeyStore, 'recordUse'>, log: Logger): KeyUse {
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
      log.warn({ err: failure }, 'could not write when API keys were last used; lastUsedAt of them is late');
    }
  };

  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();
  return {
    record: (id) => {
      if (!writtenAt.has(id) && unwritten.size + writtenAt.size < KEYS_MAX) unwritten.add(id);
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}

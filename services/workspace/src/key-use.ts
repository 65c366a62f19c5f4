import { LIMITS } from '@wts/contracts';
import type { Logger } from '@wts/service-kit/observe';
import type { ApiKeyStore } from './store/api-keys.ts';

const FLUSH_MS = 2_000;
/** Keys remembered between two writes; beyond it a use goes unrecorded, which delays `lastUsedAt` and nothing else. */
const KEYS_MAX = 10_000;

export interface KeyUse extends AsyncDisposable {
  note(id: string): void;
}

/** Notes which keys are used, and writes it down beside the requests, each key at most once a minute. */
export function openKeyUse(keys: Pick<ApiKeyStore, 'recordUse'>, log: Logger): KeyUse {
  /** When the use of a key was last handed to the store. */
  const written = new Map<string, number>();
  let noted = new Set<string>();

  const flush = async (): Promise<void> => {
    const now = Date.now();
    for (const [id, at] of written) if (now - at >= LIMITS.apiKeyUseIntervalMs) written.delete(id);
    if (noted.size === 0) return;
    const ids = [...noted];
    noted = new Set();
    for (const id of ids) written.set(id, now);
    try {
      await keys.recordUse(ids, LIMITS.apiKeyUseIntervalMs);
    } catch (failure) {
      for (const id of ids) written.delete(id);
      log.warn({ err: failure }, 'the last use of API keys could not be written');
    }
  };

  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();
  return {
    note: (id) => {
      if (!written.has(id) && noted.size + written.size < KEYS_MAX) noted.add(id);
    },
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await flush();
    },
  };
}

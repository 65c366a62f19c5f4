import { AUTH_LIMITS } from '../limits.ts';

/** When a key signs: from then on, until the next one does. */
export interface KeyTime {
  readonly id: string;
  readonly signsFrom: Date;
}

/**
 * Verifiers fetch the key set at least every ten minutes and on an unknown key, and replicas of this service read the keys every
 * minute. So all of them know a key long before it signs, and a replica that is late still signs with a key that verifiers have.
 */
export const KEY_LEAD_MS = 60 * 60_000;
/** A key stays published until the last token of it has expired, and a lead longer. */
const KEY_KEPT_MS = AUTH_LIMITS.accessTokenMs + KEY_LEAD_MS;

interface KeyPlan {
  /** When a new key has to begin to sign; null when none is needed. */
  readonly makeFrom: Date | null;
  readonly deleteIds: readonly string[];
}

/** What a round does with the keys: it makes the next one ahead of its time, and deletes those that signed nothing that is in use. */
export function planKeys(keys: readonly KeyTime[], nowMs: number, rotationMs: number): KeyPlan {
  const ordered = keys.toSorted((one, other) => one.signsFrom.getTime() - other.signsFrom.getTime());
  const newest = ordered.at(-1);
  const nextMs = newest === undefined ? nowMs : newest.signsFrom.getTime() + rotationMs;
  const isDue = newest === undefined || nextMs - KEY_LEAD_MS <= nowMs;
  const replaced = ordered.filter((_, at) => {
    const next = ordered[at + 1];
    return next !== undefined && next.signsFrom.getTime() + KEY_KEPT_MS <= nowMs;
  });
  return {
    // A round that is late makes a key that signs later, because verifiers must get it first.
    makeFrom: isDue ? new Date(newest === undefined ? nowMs : Math.max(nextMs, nowMs + KEY_LEAD_MS)) : null,
    deleteIds: replaced.map(({ id }) => id),
  };
}

/** The key that signs at a time: the last one whose time has come, or the first one for a replica whose clock is late. */
export function signingKeyAt<K extends KeyTime>(keys: readonly K[], nowMs: number): K | undefined {
  const ordered = keys.toSorted((one, other) => one.signsFrom.getTime() - other.signsFrom.getTime());
  return ordered.findLast(({ signsFrom }) => signsFrom.getTime() <= nowMs) ?? ordered[0];
}

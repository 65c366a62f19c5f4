import { LIMITS } from '@wts/contracts';
import type { Revocation } from '@wts/contracts';
import type { Logger } from '@wts/log';
import { setTimeout as sleep } from 'node:timers/promises';

/** Keys revoked after a place in the time of the database, in order. */
export interface RevokedPage {
  readonly at: string;
  readonly keys: readonly { readonly id: string; readonly userId: string; readonly revokedAt: string }[];
}

export interface RevokedKeysOptions {
  readonly list: (after: { since?: string; afterId?: string }, signal: AbortSignal) => Promise<RevokedPage>;
  readonly onRevoked: (revocation: Revocation) => void;
  readonly pageMax: number;
  readonly everyMs?: number;
  readonly logger: Pick<Logger, 'warn'>;
}

/** With the time a question may take, well within LIMITS.credentialCacheMs. */
const EVERY_MS = LIMITS.credentialCacheMs / 2.5;
/** A revocation becomes visible when it commits, which is later than the moment written into it. */
const COMMITS_WITHIN_MS = 10_000;

/**
 * Asks again and again which keys were revoked. NATS tells it at once, but nothing may rest on a message: without this a
 * socket whose message got lost would stay open for as long as its client likes. What was missed while nobody could be
 * asked is made up for by the next answer. Keeps sync.socket.credential-dies.
 */
export function followRevokedKeys(options: RevokedKeysOptions): AsyncDisposable {
  const { everyMs = EVERY_MS, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let seen: SeenKeys = { since: undefined, ids: new Set() };
  let hasWarned = false;

  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        seen = await readRevokedKeys(options, seen, signal);
        hasWarned = false;
      } catch (err) {
        if (!hasWarned && !signal.aborted)
          logger.warn({ err }, 'revoked keys cannot be asked for; NATS alone tells of them now');
        hasWarned = true;
      }
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const following = follow();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await following;
    },
  };
}

/** Where the next question begins, and the keys after that place that were told of. */
interface SeenKeys {
  readonly since: string | undefined;
  readonly ids: ReadonlySet<string>;
}

async function readRevokedKeys(
  { list, onRevoked, pageMax }: RevokedKeysOptions,
  { since, ids }: SeenKeys,
  signal: AbortSignal,
): Promise<SeenKeys> {
  const seen = new Set<string>();
  const first = await list(since === undefined ? {} : { since }, signal);
  for (let page = first; ;) {
    for (const { id, userId } of page.keys) {
      seen.add(id);
      if (!ids.has(id)) onRevoked({ kind: 'credential', credentialId: id, userId });
    }
    const last = page.keys.at(-1);
    if (last === undefined || page.keys.length < pageMax) break;
    page = await list({ since: last.revokedAt, afterId: last.id }, signal);
  }
  return { since: new Date(Date.parse(first.at) - COMMITS_WITHIN_MS).toISOString(), ids: seen };
}

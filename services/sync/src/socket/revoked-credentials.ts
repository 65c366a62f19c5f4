import { LIMITS, type Revocation } from '@wts/contracts';
import { every, type BackgroundContext, type BackgroundWork } from '@wts/service-kit/background';

/** Credentials revoked after a time of the database, in ascending order. */
export interface RevokedPage {
  readonly at: string;
  readonly credentials: readonly {
    readonly id: string;
    readonly userId: string;
    readonly revokedAt: string;
    /** All credentials of the person. */
    readonly isAll: boolean;
  }[];
}

export interface RevokedCredentialsOptions {
  readonly list: (after: { since?: string; afterId?: string }, signal: AbortSignal) => Promise<RevokedPage>;
  readonly onRevoked: (revocation: Revocation) => void;
  readonly pageMax: number;
  readonly everyMs?: number;
}

/** Together with the timeout of a request, well within LIMITS.credentialCacheMs. */
const EVERY_MS = LIMITS.credentialCacheMs / 2.5;
/** A revocation becomes visible at its commit, which may be this much later than its `revokedAt`. */
const COMMITS_WITHIN_MS = 10_000;

/**
 * Polls the auth service for revoked credentials. NATS messages are faster, but a message may get lost, and then the sockets of
 * the credential would stay open. The first answer after an outage has all revocations since. Keeps sync.socket.credential-dies.
 */
export function followRevokedCredentials(
  context: BackgroundContext,
  options: RevokedCredentialsOptions,
): BackgroundWork {
  const { everyMs = EVERY_MS } = options;
  let seen: SeenCredentials = { since: undefined, ids: new Set() };
  return every(context, {
    name: 'revoked-credentials',
    everyMs,
    run: async ({ signal }) => {
      seen = await readRevokedCredentials(options, seen, signal);
    },
    failing:
      'the auth service cannot be read for revoked credentials; until it answers, their sockets are closed by NATS messages only',
  });
}

/** Where the next poll starts, and the credentials after that time that were reported already. */
interface SeenCredentials {
  readonly since: string | undefined;
  readonly ids: ReadonlySet<string>;
}

async function readRevokedCredentials(
  { list, onRevoked, pageMax }: RevokedCredentialsOptions,
  { since, ids }: SeenCredentials,
  signal: AbortSignal,
): Promise<SeenCredentials> {
  const seen = new Set<string>();
  const first = await list(since === undefined ? {} : { since }, signal);
  for (let page = first; ;) {
    for (const { id, userId, isAll } of page.credentials) {
      seen.add(id);
      if (!ids.has(id)) onRevoked({ kind: 'credential', userId, ...(isAll ? {} : { credentialId: id }) });
    }
    const last = page.credentials.at(-1);
    if (last === undefined || page.credentials.length < pageMax) break;
    page = await list({ since: last.revokedAt, afterId: last.id }, signal);
  }
  return { since: new Date(Date.parse(first.at) - COMMITS_WITHIN_MS).toISOString(), ids: seen };
}

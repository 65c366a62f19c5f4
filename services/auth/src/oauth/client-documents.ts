import { LRUCache } from 'lru-cache';
import { Fault, LIMITS, parseJson } from '@wts/contracts';
import { openGuardedRequests, parseTarget } from '@wts/service-kit/egress';
import type { ConnectOptions, SendGuarded, Target } from '@wts/service-kit/egress';
import { FairGate } from '@wts/service-kit/fairness';
import type { Client } from '../domain/client.ts';
import { readClientMetadata } from './client-metadata.ts';

/** Whose request names a client. */
export interface Sender {
  /** Fetches are shared by it. */
  readonly network: string;
  readonly signal: AbortSignal;
}

/** Clients whose id is the address of a document with their metadata (draft-ietf-oauth-client-id-metadata-document). */
export interface ClientDocuments {
  /** Null when the document is not as it must be. Rejects with `unavailable` when its host does not answer now. */
  find(clientId: string, sender: Sender): Promise<Client | null>;
}

/** Resolving, connecting, and the whole answer. */
const FETCH_MS = 5_000;
/** A changed document takes effect within the first; a client that mended its document, and a host that is back, are found again sooner. */
const [FOUND_MS, REFUSED_MS, FAILED_MS] = [10 * 60_000, 30_000, 10_000];
/** A client whose document cannot be fetched now stays the one that it was. */
const STALE_MS = 24 * 60 * 60_000;
const CACHED_MAX = 1_000;
/** Bound what this server fetches from others, because a caller can send any address as a client id: in all, of one network, and waiting. */
const FETCHES = { slots: 16, slotsOfOneMax: 4, waitingMax: 64 } as const;

/** A client; null for a document that is wrong; what failed at its host, which says nothing about the document. */
type Reading = Client | null | Error;

interface Known {
  readonly reading: Reading;
  /** By the monotonic clock, so a clock that is set back keeps nothing for longer. */
  readonly untilMs: number;
}

interface ClientDocumentsOptions extends ConnectOptions {
  /** For tests only. */
  readonly fetchMs?: number;
  readonly foundMs?: number;
}

export function isDocumentAddress(clientId: string): boolean {
  return /^https:\/\//i.test(clientId);
}

/**
 * Fetches documents from public addresses only, as webhooks are sent: without redirects, proxies and private networks. A network has
 * only a part of all fetches, so one that names many addresses delays its own people only; and clients that were found before need no
 * fetch that succeeds.
 */
export function openClientDocuments({
  fetchMs = FETCH_MS,
  foundMs = FOUND_MS,
  ...options
}: ClientDocumentsOptions): ClientDocuments {
  const send = openGuardedRequests(options);
  const gate = new FairGate({ ...FETCHES, waitMs: fetchMs, refusal: 'Too many documents of apps are being fetched' });
  // Apart, so that made-up addresses remove no client.
  const [found, failed] = [
    new LRUCache<string, Known>({ max: CACHED_MAX }),
    new LRUCache<string, Known>({ max: CACHED_MAX }),
  ];
  /** Each has a slot of the gate, so they are few. */
  const running = new Map<string, Promise<Known>>();

  const known = (clientId: string): Known | undefined =>
    [found.peek(clientId), failed.peek(clientId)].find((one) => one !== undefined && one.untilMs > performance.now());
  const stale = (clientId: string): Known | undefined => {
    const last = found.peek(clientId);
    return last !== undefined && last.untilMs + STALE_MS > performance.now() ? last : undefined;
  };
  const fetchNow = async (clientId: string, target: Target): Promise<Known> => {
    const reading = await read(clientId, () => fetchDocument(send, target, fetchMs));
    const isFound = reading !== null && !(reading instanceof Error);
    const keptMs = isFound ? foundMs : reading === null ? REFUSED_MS : FAILED_MS;
    const fresh = { reading, untilMs: performance.now() + keptMs };
    if (reading === null) found.delete(clientId);
    (isFound ? found : failed).set(clientId, fresh);
    return fresh;
  };
  const fetchOnce = (clientId: string, target: Target): Promise<Known> => {
    const started = running.get(clientId) ?? fetchNow(clientId, target).finally(() => running.delete(clientId));
    running.set(clientId, started);
    return started;
  };

  return {
    async find(clientId, { network, signal }) {
      const target = parseTarget(clientId, options.guard);
      // One spelling for each document, and none at the root of a site, which is an address that people know as a name.
      if (typeof target === 'string' || clientId.includes('#') || target.path === '/') return null;
      if (URL.parse(clientId)?.href !== clientId) return null;
      let asked = known(clientId);
      try {
        asked ??= await (running.get(clientId) ??
          gate.run(network, { signal }, async () => known(clientId) ?? (await fetchOnce(clientId, target))));
      } catch (failure) {
        // A fault says that too many fetches wait; another failure, that the caller has left.
        asked = failure instanceof Fault ? stale(clientId) : undefined;
        if (asked === undefined) throw failure;
      }
      const { reading, untilMs } = asked.reading instanceof Error ? (stale(clientId) ?? asked) : asked;
      if (!(reading instanceof Error)) return reading;
      throw new Fault('unavailable', {
        message: 'The site of this app, which describes it, does not answer now. Try again shortly.',
        retryAfterSeconds: Math.max(1, Math.ceil((untilMs - performance.now()) / 1000)),
        cause: reading,
      });
    },
  };
}

async function read(clientId: string, fetchIt: () => Promise<Buffer | null>): Promise<Reading> {
  let content: Buffer | null;
  try {
    content = await fetchIt();
  } catch (failure) {
    // A name of a private network has the same answer as a name that does not exist, because otherwise callers could find out the
    // names of private networks.
    return failure as Error;
  }
  try {
    return content === null ? null : clientOf(clientId, parseJson(content));
  } catch {
    return null;
  }
}

/** A document has no secret, so its client is a public one. */
function clientOf(clientId: string, document: unknown): Client | null {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return null;
  const metadata = { token_endpoint_auth_method: 'none', ...(document as Record<string, unknown>) };
  const { authMethod, ...more } = readClientMetadata(metadata);
  if ((document as { client_id?: unknown }).client_id !== clientId || authMethod !== 'none') return null;
  return { id: clientId, secretHash: null, authMethod, ...more };
}

/** Statuses of a host that may answer otherwise later. */
const isTemporary = (status: number): boolean => status >= 500 || [408, 425, 429].includes(status);

/** Null when the host answers that there is no such document, or with one that is too large. */
async function fetchDocument(send: SendGuarded, target: Target, fetchMs: number): Promise<Buffer | null> {
  const { statusCode, body } = await send(target, {
    method: 'GET',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(fetchMs),
    bytesMax: LIMITS.formBytes,
  });
  if (isTemporary(statusCode)) throw new Error(`The host of the document answered ${statusCode}.`);
  return statusCode === 200 ? body : null;
}

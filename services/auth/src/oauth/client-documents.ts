import type { TLSSocket } from 'node:tls';
import { BoundedMap, readBounded } from '@wts/access';
import { Fault, LIMITS, parseJson } from '@wts/contracts';
import { openConnector, parseTarget } from '@wts/service-kit/egress';
import type { Connect, ConnectOptions, Target } from '@wts/service-kit/egress';
import { Client as HttpClient } from 'undici';
import type { buildConnector } from 'undici';
import type { Client } from '../domain/client.ts';
import { readClientMetadata } from './client-metadata.ts';

/** Clients whose id is the address of a document with their metadata (draft-ietf-oauth-client-id-metadata-document). */
export interface ClientDocuments {
  /** Null when the document cannot be fetched, or is not as it must be. */
  find(clientId: string): Promise<Client | null>;
}

/** Resolving, connecting, and the whole answer. */
const FETCH_MS = 5_000;
/** A changed document takes effect within this; a client that mended its document is found again sooner. */
const [FOUND_MS, REFUSED_MS] = [10 * 60_000, 30_000];
const CACHED_MAX = 1_000;
/** Bounds what this server fetches from others, because a caller can send any address as a client id. */
const FETCHES_MAX = 16;

interface Cached {
  readonly client: Promise<Client | null>;
  untilMs: number;
}

interface ClientDocumentsOptions extends ConnectOptions {
  /** For tests only. */
  readonly fetchMs?: number;
}

export function isDocumentAddress(clientId: string): boolean {
  return /^https:\/\//i.test(clientId);
}

/** Fetches documents from public addresses only, as webhooks are sent: without redirects, proxies and private networks. */
export function openClientDocuments({ fetchMs = FETCH_MS, ...options }: ClientDocumentsOptions): ClientDocuments {
  const connect = openConnector(options);
  const cache = new BoundedMap<string, Cached>(CACHED_MAX);
  let fetches = 0;

  const read = async (clientId: string): Promise<Client | null> => {
    const target = parseTarget(clientId, options.guard);
    // One spelling for each document, and none at the root of a site, which is an address that people know as a name.
    if (typeof target === 'string' || clientId.includes('#') || target.path === '/') return null;
    if (URL.parse(clientId)?.href !== clientId) return null;
    if (fetches >= FETCHES_MAX) throw new Fault('unavailable');
    fetches += 1;
    try {
      return clientOf(clientId, parseJson(await fetchDocument(connect, target, fetchMs)));
    } catch {
      return null;
    } finally {
      fetches -= 1;
    }
  };

  return {
    async find(clientId) {
      const known = cache.get(clientId);
      if (known !== undefined && known.untilMs > Date.now()) return known.client;
      const cached: Cached = { client: read(clientId), untilMs: Date.now() + fetchMs };
      cache.set(clientId, cached);
      try {
        const client = await cached.client;
        cached.untilMs = Date.now() + (client === null ? REFUSED_MS : FOUND_MS);
        return client;
      } catch (failure) {
        cache.delete(clientId);
        throw failure;
      }
    },
  };
}

/** A document has no secret, so its client is a public one. */
function clientOf(clientId: string, document: unknown): Client | null {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return null;
  const metadata = { token_endpoint_auth_method: 'none', ...(document as Record<string, unknown>) };
  const read = readClientMetadata(metadata);
  if ((document as { client_id?: unknown }).client_id !== clientId || read.authMethod !== 'none') return null;
  return { id: clientId, secretHash: null, ...read };
}

async function fetchDocument(connect: Connect, target: Target, fetchMs: number): Promise<Buffer> {
  const signal = AbortSignal.timeout(fetchMs);
  const client = new HttpClient(target.origin, {
    connect: (_, callback) => {
      void connectInto(connect(target, { signal, onPhase: () => undefined }), callback);
    },
    allowH2: false,
    maxHeaderSize: LIMITS.headerBytes,
  });
  try {
    const headers = { accept: 'application/json' };
    const { statusCode, body } = await client.request({ method: 'GET', path: target.path, headers, signal });
    if (statusCode !== 200) throw new Error(`The document has the status ${statusCode}.`);
    return await readBounded(body, LIMITS.formBytes);
  } finally {
    await client.destroy();
  }
}

async function connectInto(connecting: Promise<TLSSocket>, callback: buildConnector.Callback): Promise<void> {
  let socket: TLSSocket;
  try {
    socket = await connecting;
  } catch (error) {
    callback(error as Error, null);
    return;
  }
  callback(null, socket);
}

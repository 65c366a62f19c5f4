import { createHash, randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { CliFault } from '../fault.ts';
import { SyncError } from '@wts/client/api';
import { requestJson } from './request.ts';
import type { ServerAddress } from './server.ts';

/** What the service gives for a code. */
export interface MadeKey {
  readonly token: string;
  readonly id: string;
  readonly userId: string;
  readonly permissions: string;
  readonly workspaceId: string | null;
  readonly expiresAt: string | null;
}

export interface LoginRequest {
  /** The page of the service. */
  readonly address: string;
  readonly verifier: string;
  readonly state: string;
}

/** Asks for a key on the page of a service. Without a port the page shows the code. */
export function loginRequest(authUrl: string, access: string, port: number | null): LoginRequest {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(16).toString('base64url');
  const query = new URLSearchParams({
    name: `wts on ${hostname()}`,
    access,
    challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...(port === null ? {} : { port: String(port), state }),
  });
  return { address: `${authUrl}/account/connect?${query.toString()}`, verifier, state };
}

interface Made {
  readonly key: MadeKey;
  readonly apiUrl: string;
}

interface Options {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/**
 * The key of a code. It must be for the server that the person named: a server may name the sign-in of another one as its own, and
 * would else get a key of that one. Such a key is ended where it was made, and sent nowhere.
 */
export async function exchangeCode(
  { url, authUrl }: ServerAddress,
  { code, verifier }: { readonly code: string; readonly verifier: string },
  { fetch, signal }: Options,
): Promise<MadeKey> {
  const end = ({ key }: Pick<Made, 'key'>): Promise<void> => endKey(authUrl, key.token, fetch).catch(() => undefined);
  const exchange = (signal?: AbortSignal): Promise<Made> =>
    requestJson<Made>(`${authUrl}/account/connect/key`, {
      fetch,
      body: { code, verifier },
      names: ['key', 'apiUrl'],
      ...(signal && { signal }),
    });
  const { key, apiUrl } = await exchange(signal).catch(async (error: unknown) => {
    // A key may be made whose answer is lost. To exchange the code again revokes it, or gives it to be revoked.
    if (!(error instanceof SyncError) || error.status === undefined) await exchange().then(end, () => undefined);
    throw error;
  });
  if (apiUrl === url) return key;
  await end({ key });
  const message = `${url} named the sign-in of ${apiUrl} as its own. No key was sent to it.`;
  throw new CliFault('refused', message, { code: 'other_server' });
}

/** Revokes a key where it was made, also after Ctrl-C. */
export async function endKey(authUrl: string, token: string, fetch: Options['fetch']): Promise<void> {
  await requestJson(`${authUrl}/account/connect/sign-out`, { fetch, body: { token } });
}

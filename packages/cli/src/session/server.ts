import { SyncError } from '@wts/client/api';
import { CliFault, usageFault } from '../fault.ts';
import { requestJson } from './request.ts';

/** A service, by its two addresses. */
export interface ServerAddress {
  readonly url: string;
  readonly authUrl: string;
}

interface ResourceMetadata {
  readonly resource?: string;
  readonly authorization_servers?: readonly string[];
}

/** The address that a person means without a scheme: this machine has no certificate. */
export function withScheme(text: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return text;
  return `${/^(?:localhost|127(?:\.\d+){3}|\[::1\])(?=[:/]|$)/i.test(text) ? 'http' : 'https'}://${text}`;
}

/** The address without a slash at its end. Throws a fault of usage for a text that is no address of a service. */
export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '';
  if (!isAddress) throw usageFault(`${JSON.stringify(text)} is no address.`, 'It is such as https://api.example.com');
  return withoutSlash(url.href);
}

/**
 * Finds where people of a service sign in (RFC 9728). A service under another name than its own is refused, because a key is only
 * ever sent to the origin that it was made for.
 */
export async function findServer(
  url: string,
  options: { readonly fetch: typeof fetch; readonly signal: AbortSignal },
): Promise<ServerAddress> {
  const path = '/.well-known/oauth-protected-resource';
  const metadata = await requestJson<ResourceMetadata>(`${url}${path}`, options).catch(async (error: unknown) => {
    const isMissing = error instanceof SyncError && error.status === 404;
    throw isMissing && (await isSignIn(url, options)) ? signInFault(url) : error;
  });
  const [authUrl = ''] = metadata.authorization_servers ?? [];
  const { resource = '' } = metadata;
  // The system opens this address: one of another scheme, as file:, would start what the server chose.
  if (!/^https?:\/\//i.test(authUrl) || !URL.canParse(authUrl) || !URL.canParse(resource))
    throw new CliFault('failed', `${url} does not say where people sign in: it may be no Workspace Task Service.`);
  if (resource !== url) {
    if (withoutSlash(authUrl) === url) throw signInFault(url, resource);
    const hint = `If you trust that address: wts login ${resource}`;
    throw new CliFault('refused', `${url} calls itself ${resource}.`, { code: 'other_server', hint });
  }
  return { url, authUrl: withoutSlash(authUrl) };
}

/** Whether it is where people sign in (RFC 8414). */
async function isSignIn(url: string, options: Parameters<typeof findServer>[1]): Promise<boolean> {
  const metadata = requestJson<{ readonly issuer?: string }>(`${url}/.well-known/oauth-authorization-server`, options);
  return metadata.then(({ issuer }) => issuer !== undefined).catch(() => false);
}

function signInFault(url: string, api = 'https://api.example.com'): CliFault {
  return usageFault(`${url} is where people sign in. Name the address of the API.`, `Such as: wts login ${api}`);
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}

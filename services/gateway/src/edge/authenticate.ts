import { credentialFault, requireScope, type Authenticator, type ProtectedResource } from '@wts/access';
import { Fault, type Principal } from '@wts/contracts';
import type { CompiledRoute } from './route-table.ts';

/** Who checks credentials, and for which resource of ours they are. */
export interface Authentication {
  readonly authenticator: Authenticator;
  readonly resources: { readonly api: ProtectedResource; readonly agents: ProtectedResource };
}

/**
 * Authenticates a request: section 5 of the specification. A public operation ignores credentials, also broken ones. The
 * scope is checked before a service is called, so that a refusal reveals nothing about what exists. The credential is in
 * the Authorization header; `?token=` is only for sockets.
 * Keeps authentication.api-key.accepted, authentication.bearer.every-call, authentication.jwt.accepted,
 * authentication.scopes.missing, errors.401.bad-format, errors.401.bad-jwt, errors.401.bad-key, errors.401.no-header,
 * errors.401.www-authenticate, sync.auth.each-call.
 */
export async function authenticate(
  values: readonly string[],
  route: CompiledRoute,
  { authenticator, resources }: Authentication,
  network: string,
): Promise<Principal | null> {
  const { scope } = route.contract;
  if (scope === 'none') return null;
  const resource = route.isOfAgents === true ? resources.agents : resources.api;
  const principal = await authenticator.authenticate(values, network, resource);
  requireScope(principal, scope, resource);
  return principal;
}

/** Authenticates a socket upgrade. Keeps sync.socket.upgrade-token, sync.socket.refused-upgrade. */
export async function authenticateSocket(
  token: string | null,
  route: CompiledRoute,
  { authenticator, resources: { api: resource } }: Authentication,
  network: string,
): Promise<Principal> {
  const { scope } = route.contract;
  if (token === null) throw credentialFault('authorization_required', resource, { message: NO_SOCKET_TOKEN });
  const principal = await authenticator.authenticateToken(token, network, resource);
  if (scope !== 'none') requireScope(principal, scope, resource);
  return principal;
}

const NO_SOCKET_TOKEN =
  'Connect with ?token=<API key or token>. A socket does not read the Authorization header, because browsers cannot send it.';

/** Removes `token` from a raw query string; the rest, byte for byte, may be forwarded and logged. */
export function takeToken(query: string): { readonly token: string | null; readonly rest: string } {
  let token: string | null = null;
  const rest: string[] = [];
  for (const pair of query.slice(1).split('&')) {
    const equals = pair.indexOf('=');
    const name = equals === -1 ? pair : pair.slice(0, equals);
    if (decode(name) !== 'token') {
      if (pair !== '') rest.push(pair);
      continue;
    }
    if (token !== null) throw new Fault('malformed_request', { message: 'The token parameter must be given once.' });
    token = equals === -1 ? '' : decode(pair.slice(equals + 1));
  }
  return { token: token === '' ? null : token, rest: rest.length === 0 ? '' : `?${rest.join('&')}` };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new Fault('malformed_request', { message: 'The query is not valid percent-encoded UTF-8.', cause });
  }
}

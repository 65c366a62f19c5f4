import type { Form, GrantScope } from '@wts/contracts';
import type { Client } from '../domain/client.ts';
import { isChallenge } from '../domain/pkce.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { matchesRedirectUri } from './redirect-uri.ts';
import type { Resources } from './resources.ts';
import { readScopes } from './scopes.ts';

/** A request to `/authorize` in which everything is correct; the person decides the rest. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string | null;
  readonly scopes: readonly GrantScope[];
  readonly resources: readonly string[];
  /** SHA-256 of the verifier, in base64url. */
  readonly challenge: string;
}

/** RFC 6749 section 4.1.2.1 and RFC 8707 section 2. */
export type AuthorizationError =
  | 'invalid_request'
  | 'unauthorized_client'
  | 'access_denied'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'invalid_target'
  | 'server_error'
  | 'temporarily_unavailable';

/** An error that the client gets by a redirect. */
export interface AuthorizationRefusal {
  readonly redirectUri: string;
  readonly state: string | null;
  readonly error: AuthorizationError;
  readonly description: string;
}

/** `page`: the person gets a page with this sentence and is not redirected, because the address may be an attacker's. */
export type AuthorizationReading =
  | { readonly ok: AuthorizationRequest }
  | { readonly page: string }
  | { readonly redirect: AuthorizationRefusal };

interface Rules {
  readonly resources: Pick<Resources, 'granted'>;
}

/** Judges a request to `/authorize`, in the order of RFC 6749 section 4.1.2.1: first where an answer may go. */
export function readAuthorizationRequest(
  { values, repeated }: Form,
  client: Client | null,
  { resources }: Rules,
): AuthorizationReading {
  const redirectUri = redirectUriOf({ values, repeated }, client);
  if (client === null || redirectUri === null) {
    const what = client === null ? 'This app is' : 'The address that this app leads back to is';
    return { page: `${what} not registered here. The link may be broken or fake. Nothing was shared.` };
  }
  const state = values.get('state') ?? null;
  const refuse = (error: AuthorizationError, description: string): AuthorizationReading => ({
    redirect: { redirectUri, state, error, description },
  });
  const [twice] = repeated;
  if (twice !== undefined) return refuse('invalid_request', 'A parameter is given more than once.');
  if (state !== null && state.length > AUTH_LIMITS.stateMax)
    return refuse('invalid_request', `state must have at most ${AUTH_LIMITS.stateMax} characters.`);
  const responseType = values.get('response_type');
  if (responseType === undefined) return refuse('invalid_request', 'response_type is missing.');
  if (responseType !== 'code') return refuse('unsupported_response_type', 'response_type must be code.');
  if ((values.get('response_mode') ?? 'query') !== 'query')
    return refuse('invalid_request', 'response_mode must be query.');
  if (!client.grantTypes.includes('authorization_code'))
    return refuse('unauthorized_client', 'The client is not registered for authorization_code.');
  const challenge = values.get('code_challenge') ?? '';
  if (values.get('code_challenge_method') !== 'S256' || !isChallenge(challenge))
    return refuse('invalid_request', 'A code_challenge with the code_challenge_method S256 is required.');
  const scopes = readScopes(values.get('scope'));
  if (scopes.length === 0) return refuse('invalid_scope', 'The scopes are read and write.');
  const granted = resources.granted(values.get('resource'));
  if (granted === null) return refuse('invalid_target', 'The resource is none of this server.');
  return { ok: { clientId: client.id, redirectUri, state, scopes, resources: granted, challenge } };
}

/** Null for an address to which no answer may go. It may be left out when one is registered. */
function redirectUriOf({ values, repeated }: Form, client: Client | null): string | null {
  if (client === null || repeated.includes('client_id') || repeated.includes('redirect_uri')) return null;
  const asked = values.get('redirect_uri');
  if (asked !== undefined) return matchesRedirectUri(client.redirectUris, asked) ? asked : null;
  const [only, ...others] = client.redirectUris;
  return others.length === 0 ? (only ?? null) : null;
}

/** The address of a redirect with these parameters, which are added to those of the registered address (RFC 6749 section 3.1.2). */
export function redirectTo(redirectUri: string, parameters: Readonly<Record<string, string | null>>): string {
  const query = Object.entries(parameters)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join('&');
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${query}`;
}

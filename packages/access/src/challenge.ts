import { Fault, type ErrorCode, type Scope } from '@wts/contracts';

/** What a credential is used for: the API or the agent endpoint. */
export interface ProtectedResource {
  readonly realm: 'api' | 'mcp';
  /** Where clients find the authorization server of this resource (RFC 9728). */
  readonly metadataUrl?: string;
  /** The scopes that a client without a credential asks for. */
  readonly scopes?: readonly Scope[];
  /** Access tokens must name it as their audience; without it, the API. */
  readonly audience?: string;
}

/** The resource where the caller cannot use a challenge: between services, and on sockets. */
export const API_RESOURCE: ProtectedResource = { realm: 'api' };

/** RFC 6750 section 3.1: no `error` for a request without a credential. */
const ERROR_OF: Partial<Record<ErrorCode, string>> = {
  authorization_malformed: 'invalid_request',
  api_key_invalid: 'invalid_token',
  token_invalid: 'invalid_token',
};

/**
 * The value of `WWW-Authenticate`: one challenge on one line that begins with `Bearer`, because clients split it at the first
 * space. Keeps authentication.mcp.challenge.
 */
function challengeOf(
  { realm, metadataUrl }: ProtectedResource,
  error: string | undefined,
  scopes: readonly Scope[] | undefined,
): string {
  const parameters = [
    ['realm', realm],
    ['error', error],
    ['resource_metadata', metadataUrl],
    ['scope', scopes?.join(' ')],
  ];
  return `Bearer ${parameters.flatMap(([name, value]) => (value === undefined ? [] : `${name}="${value}"`)).join(', ')}`;
}

/** A refused credential, with the challenge of a resource. Keeps errors.401.www-authenticate. */
export function credentialFault(
  code: ErrorCode,
  resource: ProtectedResource,
  more: { readonly message?: string; readonly cause?: unknown } = {},
): Fault {
  return new Fault(code, {
    ...more,
    headers: { 'WWW-Authenticate': challengeOf(resource, ERROR_OF[code], resource.scopes) },
  });
}

export function scopeFault(scope: Scope, resource: ProtectedResource): Fault {
  return new Fault('insufficient_scope', {
    message: `This operation needs the scope ${scope}.`,
    headers: { 'WWW-Authenticate': challengeOf(resource, 'insufficient_scope', [scope]) },
  });
}

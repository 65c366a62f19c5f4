import { contract, internalOf } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { objectOf, okBody, text, uuid } from '../parts.ts';
import type { Scope } from '../scopes.ts';
import { typed } from '../type-of.ts';
import { form } from './form.ts';

/** The scopes that a person can grant to a client: all but `admin`. Keeps authentication.scopes.admin-api-keys-only. */
export const GRANT_SCOPES = ['read', 'write'] as const satisfies readonly Scope[];
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** What a person allowed a client, which every access token of the grant is held to. */
export interface ResolvedGrant {
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly GrantScope[];
  /** The only workspace that it is for; null for all. */
  readonly workspaceId?: string | null;
}

/** The grant of an access token, by its claim `gid`. */
export const internalResolveGrant = contract({
  ...internalOf('gateway', 'sync'),
  id: 'internalResolveGrant',
  path: '/internal/grants/resolve',
  summary: 'A grant, by its id; null when unknown, revoked or expired',
  body: objectOf({ grantId: uuid }),
  reply: { status: 200, schema: okBody({ grant: typed<ResolvedGrant | null>({ type: ['object', 'null'] }) }) },
});

const texts = { type: 'array', items: text } as const;

const serverMetadata = {
  status: 200,
  schema: objectOf(
    {
      issuer: text,
      authorization_endpoint: text,
      token_endpoint: text,
      jwks_uri: text,
      response_types_supported: texts,
      response_modes_supported: texts,
      grant_types_supported: texts,
      code_challenge_methods_supported: texts,
      token_endpoint_auth_methods_supported: texts,
      scopes_supported: texts,
      authorization_response_iss_parameter_supported: { const: true },
    },
    { registration_endpoint: text, client_id_metadata_document_supported: { const: true } },
  ),
} as const;

/** RFC 8414. */
export const authorizationServer = contract({
  id: 'authorizationServer',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  summary: 'Metadata of the authorization server',
  tag: 'Meta',
  scope: 'none',
  reply: serverMetadata,
});

const resourceMetadata = {
  status: 200,
  description: 'The document.',
  schema: {
    description: 'Protected resource metadata (RFC 9728).',
    ...objectOf({
      resource: { ...text, description: 'The identifier of this resource, for the parameter `resource` of a client.' },
      resource_name: { ...text, description: 'Its name, for people.' },
      authorization_servers: { ...texts, description: 'The issuer whose access tokens it accepts.' },
      scopes_supported: { ...texts, description: 'The scopes that a client can ask for.' },
      bearer_methods_supported: { ...texts, description: 'How a token is sent: in the Authorization header.' },
    }),
  },
  example: {
    resource: 'https://api.example.com',
    resource_name: 'Workspace Task Service',
    authorization_servers: ['https://auth.example.com'],
    scopes_supported: GRANT_SCOPES,
    bearer_methods_supported: ['header'],
  },
} as const;

/** RFC 9728, for the API. */
export const apiResource = contract({
  id: 'apiResource',
  method: 'GET',
  path: '/.well-known/oauth-protected-resource',
  summary: 'Read which authorization server clients use',
  description: 'Protected resource metadata (RFC 9728) of this API, for OAuth clients.',
  tag: 'Meta',
  scope: 'none',
  reply: resourceMetadata,
});

/** RFC 9728, for the agent endpoint. */
export const mcpResource = contract({
  id: 'mcpResource',
  method: 'GET',
  path: '/.well-known/oauth-protected-resource/mcp',
  summary: 'Metadata of the agent endpoint',
  tag: 'Meta',
  scope: 'none',
  reply: resourceMetadata,
});

/**
 * The documents of an issuer with a path, where clients look them up: the well-known part is before the path (RFC 8414 section 3.1,
 * RFC 9728 section 3.1). Null for an issuer without one.
 */
export function documentsAtPath(
  issuer: string,
): { readonly server: typeof authorizationServer; readonly mcp: typeof mcpResource } | null {
  const { pathname } = new URL(issuer);
  if (pathname === '/') return null;
  return {
    server: { ...authorizationServer, id: 'authorizationServerAtPath', path: `${authorizationServer.path}${pathname}` },
    mcp: { ...mcpResource, id: 'mcpResourceAtPath', path: `${apiResource.path}${pathname}/mcp` },
  };
}

/** RFC 7517: the public keys of access tokens. */
export const jwks = contract({
  id: 'jwks',
  method: 'GET',
  path: '/jwks',
  summary: 'Public keys of access tokens',
  tag: 'Meta',
  scope: 'none',
  reply: {
    status: 200,
    schema: objectOf({ keys: { type: 'array', items: { type: 'object' } } }),
  },
});

/** RFC 7591 section 3.2.1. */
export const registeredClient = objectOf(
  {
    client_id: text,
    client_id_issued_at: { type: 'integer' },
    redirect_uris: texts,
    token_endpoint_auth_method: text,
    grant_types: texts,
    response_types: texts,
  },
  { client_secret: text, client_secret_expires_at: { type: 'integer' }, client_name: text, application_type: text },
);

/** RFC 7591. Unknown members are ignored, and the rules of each member are in the service. */
export const register = contract({
  id: 'register',
  method: 'POST',
  path: '/register',
  summary: 'Register a client',
  tag: 'Meta',
  scope: 'none',
  body: { type: 'object' },
  bodyBytesMax: LIMITS.formBytes,
  bodyRefusal: 'invalid_client_metadata',
  reply: { status: 201, schema: registeredClient },
  errors: ['invalid_redirect_uri', 'invalid_client_metadata', 'forbidden'],
});

/** RFC 6749 section 3.2. */
export const token = contract({
  id: 'token',
  method: 'POST',
  path: '/token',
  summary: 'Exchange a code or a refresh token for an access token',
  tag: 'Meta',
  scope: 'none',
  form: true,
  body: form,
  bodyBytesMax: LIMITS.formBytes,
  bodyRefusal: 'invalid_request',
  reply: {
    status: 200,
    schema: objectOf(
      {
        access_token: text,
        token_type: { const: 'Bearer' },
        expires_in: { type: 'integer' },
        scope: text,
      },
      {
        refresh_token: text,
      },
    ),
  },
  errors: [
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unauthorized_client',
    'unsupported_grant_type',
    'invalid_scope',
    'invalid_target',
  ],
});

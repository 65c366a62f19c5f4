import { oauthApi } from '@wts/contracts';
import { mount, type Call } from '@wts/service-kit/routes';
import type { IRouter, Response } from 'express';
import type { OAuth } from '../oauth/oauth.ts';
import { AUTH_METHODS, GRANT_TYPES } from '../domain/client.ts';
import { PRODUCT } from '../domain/product.ts';
import { shardOf } from './sender.ts';

/** Clients read the documents each time they sign a person in. Shorter than the lead of a new key. */
const CACHE_CONTROL = 'public, max-age=300';

/**
 * The documents by which clients find what they need, all with the same issuer.
 * Keeps authentication.metadata.server, authentication.metadata.resource and authentication.metadata.agree.
 */
export function mountMetadata(
  router: IRouter,
  { issuer, resources, keys, hasClientDocuments, clientRegistration }: OAuth,
): void {
  const server = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    ...(clientRegistration === 'open' ? { registration_endpoint: `${issuer}/register` } : {}),
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: GRANT_TYPES,
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    scopes_supported: oauthApi.GRANT_SCOPES,
    authorization_response_iss_parameter_supported: true,
    ...(hasClientDocuments ? ({ client_id_metadata_document_supported: true } as const) : {}),
  } as const;
  mount(router, oauthApi.authorizationServer, async ({ res }) => cached(res, server));
  const describe = ({ req, res }: Pick<Call, 'req' | 'res'>, of: 'api' | 'mcp') =>
    cached(res, {
      resource: resources.of(shardOf(req))[of],
      resource_name: PRODUCT,
      authorization_servers: [issuer],
      scopes_supported: oauthApi.GRANT_SCOPES,
      bearer_methods_supported: ['header'],
    } as const);
  mount(router, oauthApi.apiResource, async (requested) => describe(requested, 'api'));
  mount(router, oauthApi.mcpResource, async (requested) => describe(requested, 'mcp'));
  const atPath = oauthApi.documentsAtPath(issuer);
  if (atPath !== null) {
    mount(router, atPath.server, async ({ res }) => cached(res, server));
    mount(router, atPath.mcp, async (requested) => describe(requested, 'mcp'));
  }
  mount(router, oauthApi.jwks, async ({ res }) => cached(res, { keys: await keys.publicKeys() }));
}

function cached<T>(res: Response, document: T): T {
  res.setHeader('cache-control', CACHE_CONTROL);
  return document;
}

import { Fault } from '@wts/contracts';
import { newOpaqueToken } from '../domain/opaque-token.ts';
import { sha256 } from '../domain/sha256.ts';
import type { OAuth } from './oauth.ts';
import { narrowResources, narrowScopes, required, tokenReply } from './token-request.ts';
import type { TokenReply, TokenRequest } from './token-request.ts';

/**
 * The grant `refresh_token` (RFC 6749 section 6, RFC 9700 section 4.14.2). Every use replaces the token. A replaced token that is
 * used again revokes the grant with all its tokens. The new token has the whole scope; only the access token can have less.
 * Keeps authentication.oauth.refresh.
 */
export async function refreshTokens(oauth: OAuth, { client, values }: TokenRequest): Promise<TokenReply> {
  const { grantStore, grants, keys, refreshGraceMs } = oauth;
  const hash = sha256(required(values, 'refresh_token'));
  const grant = await grantStore.findByRefreshToken(hash);
  if (grant === null || grant.clientId !== client.id) throw new Fault('invalid_grant');
  const scopes = narrowScopes(values, grant.scopes);
  const audience = narrowResources(values, grant.resources);
  const key = await keys.current();
  const next = newOpaqueToken('refreshToken');
  const grantEndsAt = await grantStore.rotate({ hash, nextHash: next.hash, graceMs: refreshGraceMs });
  if (grantEndsAt === null) {
    await grants.revokeReused(hash);
    throw new Fault('invalid_grant');
  }
  return tokenReply(oauth, { key, grant, scopes, audience, grantEndsAt, refreshToken: next.token });
}

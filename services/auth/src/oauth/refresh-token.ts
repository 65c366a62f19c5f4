import { randomBytes } from 'node:crypto';
import { Fault } from '@wts/contracts';
import { refreshHashesOf, successorOf } from '../domain/refresh-token.ts';
import type { OAuth } from './oauth.ts';
import { narrowScopes, required, tokenReply, type TokenReply, type TokenRequest } from './token-request.ts';

/**
 * The grant `refresh_token` (RFC 6749 section 6, RFC 9700 section 4.14.2). Every use replaces the token. A replaced token that is
 * used again revokes the grant with all its tokens. The new token has the whole scope; only the access token can have less.
 * Keeps authentication.oauth.refresh.
 */
export async function refreshTokens(oauth: OAuth, { client, values, visitor }: TokenRequest): Promise<TokenReply> {
  const { grantStore, grants, keys, refreshGraceMs } = oauth;
  const token = required(values, 'refresh_token');
  const hashes = refreshHashesOf(token);
  const grant = await grantStore.findByRefreshToken(hashes);
  if (grant === null || grant.clientId !== client.id) throw new Fault('invalid_grant');
  const scopes = narrowScopes(values, grant.scopes);
  const audience = oauth.resources.audience(grant.resources, values.get('resource'));
  const key = await keys.current();
  const nonce = randomBytes(32);
  const { hash: nextHash } = refreshHashesOf(successorOf(token, nonce));
  const rotated = await grantStore.rotate({ ...hashes, nextHash, nonce, graceMs: refreshGraceMs });
  if (rotated === null) {
    await grants.revokeOfUsedToken(hashes, visitor);
    throw new Fault('invalid_grant');
  }
  const refreshToken = successorOf(token, rotated.nonce);
  return tokenReply(oauth, { key, grant, scopes, audience, grantEndsAt: rotated.expiresAt, refreshToken });
}

import { timingSafeEqual } from 'node:crypto';
import { Fault } from '@wts/contracts';
import { challengeOf } from '../domain/pkce.ts';
import { firstRefreshToken, refreshHashesOf } from '../domain/refresh-token.ts';
import { sha256 } from '../domain/sha256.ts';
import type { OAuth } from './oauth.ts';
import { required, tokenReply, type TokenReply, type TokenRequest } from './token-request.ts';

/**
 * The grant `authorization_code` (RFC 6749 section 4.1.3, RFC 7636 section 4.6). A code works once. A second request that is valid
 * in every other respect revokes the grant, because one of the two who have code and verifier is a thief; an invalid one revokes
 * nothing, because otherwise a leaked code would be enough to end the grant.
 * Keeps authentication.oauth.pkce-only.
 */
export async function exchangeCode(oauth: OAuth, { client, values, visitor }: TokenRequest): Promise<TokenReply> {
  const { grantStore, grants, keys } = oauth;
  const code = required(values, 'code');
  const redirectUri = required(values, 'redirect_uri');
  const verifier = required(values, 'code_verifier');
  const hash = sha256(code);
  const grant = await grantStore.findByCode(hash);
  const isValid =
    grant !== null &&
    grant.clientId === client.id &&
    grant.redirectUri === redirectUri &&
    isVerifierOf(grant.challenge, verifier);
  if (!isValid) throw new Fault('invalid_grant');
  const audience = oauth.resources.audience(grant.resources, values.get('resource'));
  // Before the code is used, because the client could not repeat the request.
  const key = await keys.current();
  const refreshToken = client.grantTypes.includes('refresh_token') ? firstRefreshToken() : null;
  const grantEndsAt = await grantStore.exchange(hash, refreshToken === null ? null : refreshHashesOf(refreshToken));
  if (grantEndsAt === null) {
    await grants.revokeOfUsedCode(hash, visitor);
    throw new Fault('invalid_grant');
  }
  return tokenReply(oauth, { key, grant, scopes: grant.scopes, audience, grantEndsAt, refreshToken });
}

function isVerifierOf(challenge: string, verifier: string): boolean {
  const made = challengeOf(verifier);
  return made !== null && timingSafeEqual(Buffer.from(made), Buffer.from(challenge));
}

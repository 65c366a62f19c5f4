import { randomUUID } from 'node:crypto';
import type { GrantScope } from '@wts/contracts';
import jwt from 'jsonwebtoken';
import type { SigningKey } from './signing-keys.ts';
import { AUTH_LIMITS } from '../limits.ts';

interface AccessTokenClaims {
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly grant: { readonly id: string; readonly userId: string; readonly clientId: string };
  readonly scopes: readonly GrantScope[];
  /** When the grant ends; the token does not outlive it. */
  readonly grantEndsAt: Date;
}

export interface AccessToken {
  readonly token: string;
  readonly expiresInSeconds: number;
}

/** RFC 9068. `gid` is the grant, which verifiers look up, so that a revoked grant ends its tokens. */
export function signAccessToken(
  { id, key }: SigningKey,
  { issuer, audience, grant, scopes, grantEndsAt }: AccessTokenClaims,
): AccessToken {
  const now = Math.floor(Date.now() / 1000);
  const exp = Math.min(now + AUTH_LIMITS.accessTokenMs / 1000, Math.floor(grantEndsAt.getTime() / 1000));
  const claims = {
    iss: issuer,
    aud: audience,
    sub: grant.userId,
    client_id: grant.clientId,
    scope: scopes.join(' '),
    gid: grant.id,
    jti: randomUUID(),
    iat: now,
    exp,
  };
  const header = { alg: 'ES256', typ: 'at+jwt', kid: id };
  return { token: jwt.sign(claims, key, { algorithm: 'ES256', header }), expiresInSeconds: exp - now };
}

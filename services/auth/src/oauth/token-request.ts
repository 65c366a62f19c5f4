import { Fault, oauthApi, type Form, type GrantScope, type ReplyOf } from '@wts/contracts';
import type { Visitor } from '../domain/security-event.ts';
import type { Client } from '../domain/client.ts';
import type { TokenGrant } from '../store/grants.ts';
import { signAccessToken } from './access-token.ts';
import type { OAuth } from './oauth.ts';
import { readScopes } from './scopes.ts';
import type { SigningKey } from './signing-keys.ts';

/** A request to `/token` of an authenticated client. */
export interface TokenRequest {
  readonly client: Client;
  readonly values: Form['values'];
  readonly visitor: Visitor;
}

/** RFC 6749 section 5.1. */
export type TokenReply = ReplyOf<typeof oauthApi.token>;

export function required(values: Form['values'], name: string): string {
  const value = values.get(name);
  if (value === undefined) throw new Fault('invalid_request', { message: `${name} is missing.` });
  return value;
}

/** The scopes of the new access token: those of the grant, or fewer (RFC 6749 section 6). */
export function narrowScopes(values: Form['values'], granted: readonly GrantScope[]): readonly GrantScope[] {
  const asked = values.get('scope');
  if (asked === undefined) return granted;
  // `write` includes `read`.
  const allowed = granted.includes('write') ? oauthApi.GRANT_SCOPES : granted;
  const isGranted = asked.split(' ').every((scope) => allowed.some((one) => one === scope));
  if (!isGranted) throw new Fault('invalid_scope');
  return readScopes(asked);
}

interface Issued {
  readonly key: SigningKey;
  readonly grant: TokenGrant;
  readonly scopes: readonly GrantScope[];
  readonly audience: readonly string[];
  readonly grantEndsAt: Date;
  readonly refreshToken: string | null;
}

export function tokenReply({ issuer }: OAuth, { key, refreshToken, ...claims }: Issued): TokenReply {
  const { token, expiresInSeconds } = signAccessToken(key, { issuer, ...claims });
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    scope: claims.scopes.join(' '),
    ...(refreshToken === null ? {} : { refresh_token: refreshToken }),
  };
}

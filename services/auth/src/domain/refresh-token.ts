import { createHmac, randomBytes } from 'node:crypto';
import { newOpaqueToken } from './opaque-token.ts';
import { sha256 } from './sha256.ts';

/** What is stored of a refresh token. */
export interface RefreshHashes {
  /** Of the part that all tokens of a grant have. */
  readonly family: Buffer;
  /** Of the whole token. */
  readonly hash: Buffer;
}

/** The prefix and 32 bytes in hex. */
const FAMILY_CHARS = 'wtsr_'.length + 64;

/**
 * The first refresh token of a grant: the prefix, 32 random bytes that name its family, and 32 random bytes of its own. A token
 * of the family that is not the current one comes from a holder of an older one, because only the tokens of the grant contain the family.
 */
export function firstRefreshToken(): string {
  return newOpaqueToken('refreshToken').token + randomBytes(32).toString('hex');
}

/**
 * The token that replaces another one. It is derived, so that a repeated use within the grace gets the same successor and the family
 * never has two current tokens. The table has the nonce and not the token, and a thief of an old token has no nonce.
 */
export function successorOf(token: string, nonce: Buffer): string {
  return token.slice(0, FAMILY_CHARS) + createHmac('sha256', token).update(nonce).digest('hex');
}

export function refreshHashesOf(token: string): RefreshHashes {
  return { family: sha256(token.slice(0, FAMILY_CHARS)), hash: sha256(token) };
}

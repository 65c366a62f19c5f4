import { createHash, randomBytes } from 'node:crypto';

/** What a text of random bits is for. The prefix shows it to people, to secret scanners, and to the log, which redacts it. */
const PREFIXES = { code: 'wtsc_', refreshToken: 'wtsr_', clientSecret: 'wtss_' } as const;

export interface OpaqueToken {
  /** Shown once, never stored. */
  readonly token: string;
  readonly hash: Buffer;
}

/** A secret of 256 random bits. */
export function newOpaqueToken(kind: keyof typeof PREFIXES): OpaqueToken {
  const token = PREFIXES[kind] + randomBytes(32).toString('hex');
  return { token, hash: hashOf(token) };
}

/** What is stored and looked up. The token has 256 random bits, so no slow hash is needed. */
export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

import { randomBytes } from 'node:crypto';
import { sha256 } from './sha256.ts';

/** What a text of random bits is for. The prefix shows it to people, to secret scanners, and to the log, which redacts it. */
const PREFIXES = { code: 'wtsc_', refreshToken: 'wtsr_', clientSecret: 'wtss_', mailLink: 'wtsm_' } as const;

export interface OpaqueToken {
  /** Shown once, never stored. */
  readonly token: string;
  readonly hash: Buffer;
}

/** A secret of 256 random bits. */
export function newOpaqueToken(kind: keyof typeof PREFIXES): OpaqueToken {
  const token = PREFIXES[kind] + randomBytes(32).toString('hex');
  return { token, hash: sha256(token) };
}

import { sha256 } from './sha256.ts';

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** The shape of a challenge of the method S256 (RFC 7636 section 4.2), which is the only method here. */
export function isChallenge(text: string): boolean {
  return CHALLENGE.test(text);
}

/** Null for a text that is no verifier (RFC 7636 section 4.1). */
export function challengeOf(verifier: string): string | null {
  return VERIFIER.test(verifier) ? sha256(verifier).toString('base64url') : null;
}

import { createHash, randomBytes } from 'node:crypto';

/** 192 bits: a code cannot be guessed, so a plain hash keeps it safe at rest. */
const CODE_BYTES = 24;

/** A new code and its hash. The code is shown once and never stored. */
export function createInvitationCode(): { readonly code: string; readonly hash: Buffer } {
  const code = randomBytes(CODE_BYTES).toString('base64url');
  return { code, hash: hashInvitationCode(code) };
}

export function hashInvitationCode(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}

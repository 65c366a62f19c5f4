import { createHash } from 'node:crypto';

/**
 * The hash of a value, or of several, one per line. It is fast, so it keeps a value secret only when that has 256 random bits, as
 * tokens and the secrets of browsers and sessions have; passwords have `PasswordHashes`.
 */
export function sha256(...values: readonly string[]): Buffer {
  return createHash('sha256').update(values.join('\n')).digest();
}

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { NewSession, SessionStore } from '../store/sessions.ts';

/**
 * Begins a session with a new secret, so that a secret from before the sign-in is worth nothing (session fixation). Returns the secret,
 * which only the cookie holds; null when the password was changed since it was checked.
 */
export async function beginSession(
  sessions: SessionStore,
  { userId, account }: Pick<NewSession, 'userId' | 'account'>,
): Promise<string | null> {
  const secret = randomBytes(32).toString('base64url');
  const isBegun = await sessions.insert({ id: randomUUID(), secretHash: hashOfSecret(secret), userId, account });
  return isBegun ? secret : null;
}

/** 256 random bits cannot be guessed, so a plain hash keeps them safe at rest. */
export function hashOfSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

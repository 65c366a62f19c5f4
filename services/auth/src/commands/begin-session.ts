import { randomBytes, randomUUID } from 'node:crypto';
import { sha256 } from '../domain/sha256.ts';
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
  const isBegun = await sessions.insert({ id: randomUUID(), secretHash: sha256(secret), userId, account });
  return isBegun ? secret : null;
}

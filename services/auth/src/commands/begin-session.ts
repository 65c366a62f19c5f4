import { randomBytes, randomUUID } from 'node:crypto';
import { sha256 } from '../domain/sha256.ts';
import type { NewSession, SessionStore } from '../store/sessions.ts';

interface Beginning extends Pick<NewSession, 'userId' | 'account'> {
  /** The session of the same browser, which ends. */
  readonly replaces?: { readonly id: string } | null;
}

/**
 * Begins a session with a new secret, so that a secret from before the sign-in is worth nothing (session fixation). Returns the secret,
 * which only the cookie holds; null when the password was changed since it was checked.
 */
export async function beginSession(
  sessions: SessionStore,
  { userId, account, replaces = null }: Beginning,
): Promise<string | null> {
  const secret = randomBytes(32).toString('base64url');
  if (!(await sessions.insert({ id: randomUUID(), secretHash: sha256(secret), userId, account }))) return null;
  if (replaces !== null) await sessions.end(replaces.id);
  return secret;
}

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { SessionStore } from '../store/sessions.ts';

/**
 * Begins a session with a new secret, so that a secret from before the sign-in is worth nothing (session fixation). Returns the secret,
 * which only the cookie holds.
 */
export async function beginSession(
  sessions: SessionStore,
  { userId, accountId }: { readonly userId: string; readonly accountId: string | null },
): Promise<string> {
  const secret = randomBytes(32).toString('base64url');
  await sessions.insert({ id: randomUUID(), secretHash: hashOfSecret(secret), userId, accountId });
  return secret;
}

/** 256 random bits cannot be guessed, so a plain hash keeps them safe at rest. */
export function hashOfSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

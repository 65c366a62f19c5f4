import { randomBytes, randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Visitor } from '../domain/security-event.ts';
import { sha256 } from '../domain/sha256.ts';
import type { NewSession } from '../store/sessions.ts';

interface Beginning extends Pick<NewSession, 'userId' | 'account' | 'method'> {
  /** The session of the same browser, which ends. */
  readonly replaces?: { readonly id: string } | null;
  /** How the person signed in, as the security record says it; null when they were signed in already. */
  readonly way: string | null;
  readonly visitor: Visitor;
}

/**
 * Begins a session with a new secret, so that a secret from before the sign-in is worth nothing (session fixation). Returns the secret,
 * which only the cookie holds; null when the password was changed since it was checked, or a second factor was added.
 */
export async function beginSession(
  { record }: Pick<Context, 'record'>,
  { userId, account, replaces = null, way, visitor, ...by }: Beginning,
): Promise<string | null> {
  const secret = randomBytes(32).toString('base64url');
  const id = randomUUID();
  const isBegun = await record.act(async ({ sessions, record: write }) => {
    if (!(await sessions.insert({ id, secretHash: sha256(secret), userId, account, visitor, ...by }))) return false;
    if (replaces !== null) await sessions.end(replaces.id);
    const about = { userId, accountId: account?.id ?? null, subjectId: id, visitor };
    if (way !== null) await write({ kind: 'sign-in', ...about, details: { way } });
    return true;
  });
  return isBegun ? secret : null;
}

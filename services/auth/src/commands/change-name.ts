import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { readName } from '../domain/profile.ts';
import { sessionPrincipal } from '../domain/session-principal.ts';
import type { Session } from '../store/sessions.ts';

/**
 * Changes the name by a commit of the person, so that everyone who shares a workspace sees it. False when nothing of it can be seen.
 * Keeps authentication.account.name.
 */
export async function changeName(
  { commitUnit }: Pick<Context, 'commitUnit'>,
  session: Session,
  entered: string,
): Promise<boolean> {
  const name = readName(entered);
  if (name === null) return false;
  const mutation = { modelName: 'User', modelId: session.userId, action: 'UPDATE', payload: { name } } as const;
  const principal = sessionPrincipal(session);
  await commitUnit({ principal, authority: 'caller', txId: randomUUID(), mutations: [mutation] });
  return true;
}

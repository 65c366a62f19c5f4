import type { Context } from '../context.ts';
import type { Visitor } from '../domain/security-event.ts';
import type { Session } from '../store/sessions.ts';

/** Ends the session of a browser, when its person asks for it. */
export async function signOut(
  { record }: Pick<Context, 'record'>,
  { id, userId, accountId }: Session,
  visitor: Visitor,
): Promise<void> {
  await record.act(async ({ sessions, record: write }) => {
    await sessions.end(id);
    await write({ kind: 'sign-out', userId, accountId, subjectId: id, visitor, details: {} });
  });
}

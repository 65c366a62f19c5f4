import { Fault } from '@wts/contracts';
import type { Context } from '../context.ts';
import type { Visitor } from '../domain/security-event.ts';
import type { Session } from '../store/sessions.ts';

type EndContext = Pick<Context, 'record'>;

/** Ends one session of a person, who may be another one in front of that browser. Keeps authentication.sessions.list. */
export async function endSession(
  { record }: EndContext,
  { userId, accountId }: Session,
  subjectId: string,
  visitor: Visitor,
): Promise<void> {
  await record.act(async ({ sessions, record: write }) => {
    const ended = (await sessions.listOf(userId)).find(({ id }) => id === subjectId);
    if (ended === undefined) throw new Fault('not_found', { message: 'This session has ended already.' });
    await sessions.end(subjectId);
    const { browser } = ended;
    await write({ kind: 'session-ended', userId, accountId, subjectId, visitor, details: { browser } });
  });
}

/** Ends all sessions of a person but this one. Apps and keys stay. */
export async function endOtherSessions({ record }: EndContext, session: Session, visitor: Visitor): Promise<void> {
  const { id, userId, accountId } = session;
  await record.act(async ({ sessions, record: write }) => {
    const listed = await sessions.listOf(userId);
    for (const subjectId of await sessions.endAllOf(userId, id)) {
      const browser = listed.find((one) => one.id === subjectId)?.browser ?? null;
      await write({ kind: 'session-ended', userId, accountId, subjectId, visitor, details: { browser } });
    }
  });
}

/** Ends the session of a browser, when its person asks for it. */
export async function signOut(
  { record }: EndContext,
  { id, userId, accountId }: Session,
  visitor: Visitor,
): Promise<void> {
  await record.act(async ({ sessions, record: write }) => {
    await sessions.end(id);
    await write({ kind: 'sign-out', userId, accountId, subjectId: id, visitor, details: {} });
  });
}

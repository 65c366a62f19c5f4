import { pageApi } from '@wts/contracts';
import { endOtherSessions, endSession } from '../../commands/end-sessions.ts';
import * as sections from '../../pages/account/sessions.ts';
import { mountPage } from '../mount-page.ts';
import { sessionOf, type Account, type Section } from './view.ts';

export const sessionsSection: Section = async ({ pages, session, csrf }) => {
  const sessions = await pages.sessions.listOf(session.userId);
  return sections.sessionsSection(pages.site, { csrf, sessions, currentId: session.id });
};

export function mountSessions({ pages, done }: Account): void {
  mountPage(pages, pageApi.endOtherSessions, async (call) => {
    await endOtherSessions(pages, sessionOf(call), call.visitor);
    return done('security', 'sessions');
  });
  mountPage(pages, pageApi.endSession, async (call) => {
    await endSession(pages, sessionOf(call), call.params['sessionId'] ?? '', call.visitor);
    return done('security', 'session');
  });
}

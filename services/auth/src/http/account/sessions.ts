import { pageApi } from '@wts/contracts';
import { endOtherSessions, endSession } from '../../commands/end-sessions.ts';
import * as pages from '../../pages/account/sessions.ts';
import { mountPage } from '../mount-page.ts';
import { sessionOf, type Account, type Section } from './view.ts';

export const sessionsSection: Section = async ({ site, sessions, session, csrf }) =>
  pages.sessionsSection(site, { csrf, sessions: await sessions.listOf(session.userId), currentId: session.id });

export function mountSessions({ pages: mounted, context, done }: Account): void {
  mountPage(mounted, pageApi.endOtherSessions, async (call) => {
    await endOtherSessions(context, sessionOf(call), call.visitor);
    return done('security', 'sessions');
  });
  mountPage(mounted, pageApi.endSession, async (call) => {
    await endSession(context, sessionOf(call), call.params['sessionId'] ?? '', call.visitor);
    return done('security', 'session');
  });
}

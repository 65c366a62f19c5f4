import { beginSession } from '../commands/begin-session.ts';
import { joinAs, readInvitation } from '../commands/join-by-invitation.ts';
import { confirmRegistration, isOfBrowser } from '../commands/register-by-mail.ts';
import { sha256 } from '../domain/sha256.ts';
import { confirmAddressPage, takenPage } from '../pages/link.ts';
import { formToken, sessionCookie } from './browser.ts';
import { afterJoining } from './join.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import { pageWith, type PageAnswer, type Pages } from './mount-page.ts';

/** A person confirms the account that they asked for with an invitation: it is created, and they are signed in and join. */
export function registrationLink(pages: Pages): LinkPages {
  const { site } = pages;
  const show = async (opened: OpenedLink, wrong?: string): Promise<PageAnswer | 'ended'> => {
    const { call, token, hash, address } = opened;
    if (address === null) return 'ended';
    const page = confirmAddressPage(site, {
      csrf: formToken(call.browser, 'browser'),
      token,
      address,
      name: null,
      needsPassword: !(await isOfBrowser(pages, hash, call.browserId)),
      wrong,
    });
    return pageWith(page, wrong);
  };
  return {
    show,
    use: async (opened) => {
      const { call, hash: linkHash } = opened;
      const password = call.form.text('password');
      const outcome = await confirmRegistration(pages, { linkHash, password, guest: call });
      if (outcome === 'ended') return 'ended';
      if (outcome === 'taken') return { status: 409, page: takenPage(site) };
      if ('wrong' in outcome) return show(opened, outcome.wrong);
      const { account, userId, code } = outcome;
      const { session: replaces } = call.browser;
      const beginning = { userId, account, replaces, way: 'with a password', visitor: call.visitor } as const;
      const secret = await beginSession(pages, beginning);
      const session = secret === null ? null : await pages.sessions.find(sha256(secret));
      if (secret === null || session === null) return { to: site.url('/sign-in') };
      const cookies = [sessionCookie(site, secret)];
      try {
        const invitation = await readInvitation(pages, session, code);
        const joined = await joinAs(pages, session, { code, invitation });
        return { ...afterJoining(site, code, joined), cookies };
      } catch {
        // The account exists; the page of the invitation says what is wrong with that.
        return { to: site.url('/join', { code }), cookies };
      }
    },
  };
}

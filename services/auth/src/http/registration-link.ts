import { beginSession } from '../commands/begin-session.ts';
import { joinAs, readInvitation } from '../commands/join-by-invitation.ts';
import { confirmRegistration, isOfBrowser } from '../commands/register-by-mail.ts';
import { sha256 } from '../domain/sha256.ts';
import type { PeopleContext } from '../people-context.ts';
import { confirmAddressPage, takenPage } from '../pages/link.ts';
import { formToken, sessionCookie } from './browser.ts';
import { afterJoining } from './join.ts';
import { guestOf } from './guest.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import type { PageAnswer, Pages } from './mount-page.ts';

/** A person confirms the account that they asked for with an invitation: it is created, and they are signed in and join. */
export function registrationLink({ site, sessions }: Pages, context: PeopleContext): LinkPages {
  const show = async (opened: OpenedLink, wrong?: string): Promise<PageAnswer | 'ended'> => {
    const { call, token, hash, address } = opened;
    if (address === null) return 'ended';
    const page = confirmAddressPage(site, {
      csrf: formToken(call.browser, 'browser'),
      token,
      address,
      name: null,
      needsPassword: !(await isOfBrowser(context, hash, call.browser.id)),
      wrong,
    });
    return { page, ...(wrong === undefined ? {} : { status: 422 }) };
  };
  return {
    show,
    use: async (opened) => {
      const { call, hash: linkHash } = opened;
      const password = call.form.text('password');
      const outcome = await confirmRegistration(context, { linkHash, password, guest: guestOf(call) });
      if (outcome === 'ended') return 'ended';
      if (outcome === 'taken') return { status: 409, page: takenPage(site) };
      if ('wrong' in outcome) return show(opened, outcome.wrong);
      const { account, userId, code } = outcome;
      const { session: replaces } = call.browser;
      const beginning = { userId, account, replaces, way: 'with a password', visitor: call.visitor } as const;
      const secret = await beginSession(context, beginning);
      const session = secret === null ? null : await sessions.find(sha256(secret));
      if (secret === null || session === null) return { to: `${site.issuer}/sign-in` };
      const cookies = [sessionCookie(site, secret)];
      try {
        const invitation = await readInvitation(context, session, code);
        const joined = await joinAs(context, session, { code, invitation });
        return { ...afterJoining(site, code, joined), cookies };
      } catch {
        // The account exists; the page of the invitation says what is wrong with that.
        return { to: `${site.issuer}/join?${new URLSearchParams({ code }).toString()}`, cookies };
      }
    },
  };
}

import { pageApi } from '@wts/contracts';
import { beginSession } from '../../commands/begin-session.ts';
import { changePassword } from '../../commands/change-password.ts';
import * as sections from '../../pages/account/password.ts';
import { sessionCookie } from '../browser.ts';
import { mountPageWith } from '../mount-page.ts';
import { accountOf, sessionOf, wrongIn, type Account, type Section } from './view.ts';

/** Null for a person who signs in at the identity provider. */
export const passwordSection: Section = async (view) => {
  const account = await accountOf(view);
  if (account === null) return null;
  const shown = { csrf: view.csrf, email: account.email, wrong: wrongIn(view, 'password') };
  return sections.passwordSection(view.pages.site, shown);
};

export function mountPassword({ pages, refuse, done }: Account): void {
  mountPageWith(pages, pageApi.changePassword, { isOfAccounts: true }, async (call) => {
    const { form, visitor } = call;
    const session = sessionOf(call);
    const change = { ...call, current: form.text('current'), password: form.text('password') };
    const changed = await changePassword(pages, session, change);
    if ('wrong' in changed) return refuse(call, 'security', { wrong: { about: 'password', text: changed.wrong } });
    const { userId, method } = session;
    const by = method === null ? {} : { method };
    const secret = await beginSession(pages, { userId, account: changed.account, way: null, visitor, ...by });
    // Null: the password was changed again meanwhile, or the session is from before a second factor.
    if (secret === null) return { to: pages.site.url('/sign-in') };
    return { ...done('security', 'password'), cookies: [sessionCookie(pages.site, secret)] };
  });
}

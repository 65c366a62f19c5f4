import { pageApi } from '@wts/contracts';
import { beginSession } from '../../commands/begin-session.ts';
import { changePassword } from '../../commands/change-password.ts';
import * as pages from '../../pages/account/password.ts';
import { sessionCookie } from '../browser.ts';
import { mountPage } from '../mount-page.ts';
import { passwordsClosed } from '../sign-in.ts';
import { accountOf, sessionOf, wrongIn, type Account, type Section } from './view.ts';

/** Null for a person who signs in at the identity provider. */
export const passwordSection: Section = async (view) => {
  const { site, csrf } = view;
  const account = await accountOf(view);
  if (account === null) return null;
  return pages.passwordSection(site, { csrf, email: account.email, wrong: wrongIn(view, 'password') });
};

export function mountPassword({ pages: { site }, pages: mounted, context, refuse, done }: Account): void {
  mountPage(mounted, pageApi.changePassword, async (call) => {
    if (!context.hasAccounts) return { status: 403, page: passwordsClosed(mounted) };
    const { form, network, visitor, signal } = call;
    const session = sessionOf(call);
    const change = { current: form.text('current'), password: form.text('password'), network, visitor, signal };
    const changed = await changePassword(context, session, change);
    if ('wrong' in changed) return refuse(call, 'security', { wrong: { about: 'password', text: changed.wrong } });
    const { userId, method } = session;
    const by = method === null ? {} : { method };
    const secret = await beginSession(context, { userId, account: changed.account, way: null, visitor, ...by });
    // Null: the password was changed again meanwhile, or the session is from before a second factor.
    if (secret === null) return { to: `${site.issuer}/sign-in` };
    return { ...done('security', 'password'), cookies: [sessionCookie(site, secret)] };
  });
}

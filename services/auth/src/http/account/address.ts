import { pageApi } from '@wts/contracts';
import { askForAddress, askForVerification } from '../../commands/change-address.ts';
import * as pages from '../../pages/account/address.ts';
import { askAgain } from '../ask-again.ts';
import { mountPage } from '../mount-page.ts';
import { passwordsClosed } from '../sign-in.ts';
import { accountOf, sessionOf, wrongIn, type Account, type Section } from './view.ts';

/** Null for a person who signs in at the identity provider. */
export const addressSection: Section = async (view) => {
  const { site, context, csrf, shown } = view;
  const account = await accountOf(view);
  if (account === null) return null;
  return pages.addressSection(site, {
    csrf,
    email: account.email,
    isVerified: account.emailVerified,
    hasMail: context.mailer.isOn,
    entered: shown.entered?.['email'],
    wrong: wrongIn(view, 'address'),
  });
};

export function mountAddress({ pages: mounted, context, refuse, done }: Account): void {
  mountPage(mounted, pageApi.changeAddress, async (call) => {
    if (!context.hasAccounts) return { status: 403, page: passwordsClosed(mounted) };
    const { form, network, visitor } = call;
    const session = sessionOf(call);
    const toChange = { action: '/account/address', purpose: 'change your address' };
    const asked = await askAgain(mounted, context, { call, session }, toChange);
    if (asked !== null) return asked;
    const email = form.text('email').slice(0, 320);
    const wrong = await askForAddress(context, session, { email, network, visitor });
    if (wrong === null) return done('profile', 'address');
    return refuse(call, 'profile', { entered: { email }, wrong: { about: 'address', text: wrong } });
  });
  mountPage(mounted, pageApi.verifyAddress, async (call) => {
    if (!context.hasAccounts) return { status: 403, page: passwordsClosed(mounted) };
    const wrong = await askForVerification(context, sessionOf(call), call);
    if (wrong === null) return done('profile', 'address');
    return refuse(call, 'profile', { wrong: { about: 'address', text: wrong } });
  });
}

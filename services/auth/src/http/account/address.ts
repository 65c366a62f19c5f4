import { pageApi } from '@wts/contracts';
import { askForAddress, askForVerification } from '../../commands/change-address.ts';
import * as sections from '../../pages/account/address.ts';
import { askAgain } from '../ask-again.ts';
import { mountPageWith } from '../mount-page.ts';
import { accountOf, sessionOf, wrongIn, type Account, type Section } from './view.ts';

/** Null for a person who signs in at the identity provider. */
export const addressSection: Section = async (view) => {
  const { pages, csrf, shown } = view;
  const account = await accountOf(view);
  if (account === null) return null;
  return sections.addressSection(pages.site, {
    csrf,
    email: account.email,
    isVerified: account.emailVerified,
    hasMail: pages.mailer.isOn,
    entered: shown.entered?.['email'],
    wrong: wrongIn(view, 'address'),
  });
};

export function mountAddress({ pages, refuse, done }: Account): void {
  mountPageWith(pages, pageApi.changeAddress, { isOfAccounts: true }, async (call) => {
    const session = sessionOf(call);
    const asked = await askAgain(pages, { call, session }, 'change your address');
    if (asked !== null) return asked;
    const email = call.form.text('email').slice(0, 320);
    const wrong = await askForAddress(pages, session, { ...call, email });
    if (wrong === null) return done('profile', 'address');
    return refuse(call, 'profile', { entered: { email }, wrong: { about: 'address', text: wrong } });
  });
  mountPageWith(pages, pageApi.verifyAddress, { isOfAccounts: true }, async (call) => {
    const wrong = await askForVerification(pages, sessionOf(call), call);
    if (wrong === null) return done('profile', 'address');
    return refuse(call, 'profile', { wrong: { about: 'address', text: wrong } });
  });
}

import { pageApi } from '@wts/contracts';
import { askForReset } from '../commands/ask-for-link.ts';
import type { PeopleContext } from '../people-context.ts';
import { forgottenPage, mailSentPage } from '../pages/forgotten.ts';
import { formToken } from './browser.ts';
import { mountPage, type Pages } from './mount-page.ts';
import { passwordsClosed } from './sign-in.ts';

/** Where a person who forgot the password asks for a link. */
export function mountForgotten(pages: Pages, context: PeopleContext): void {
  const { site } = pages;
  const { hasAccounts, mailer } = context;
  mountPage(
    pages,
    pageApi.forgottenPage,
    async ({ browser }) => {
      if (!hasAccounts) return { status: 403, page: passwordsClosed(pages) };
      return { page: forgottenPage(site, { csrf: formToken(browser, 'browser'), hasMail: mailer.isOn }) };
    },
    { isOpenWithoutFactor: true },
  );
  mountPage(
    pages,
    pageApi.askForReset,
    async ({ browser, form, network, visitor }) => {
      if (!hasAccounts) return { status: 403, page: passwordsClosed(pages) };
      const email = form.text('email').slice(0, 320);
      const csrf = formToken(browser, 'browser');
      const asked = mailer.isOn ? await askForReset(context, { email, network, visitor }) : { wrong: undefined };
      if (asked === 'asked') return { page: mailSentPage(site, email) };
      return { status: 422, page: forgottenPage(site, { csrf, hasMail: mailer.isOn, email, ...asked }) };
    },
    { token: 'browser', isOpenWithoutFactor: true },
  );
}

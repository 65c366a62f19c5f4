import { pageApi } from '@wts/contracts';
import { askForReset } from '../commands/ask-for-link.ts';
import { forgottenPage, mailSentPage } from '../pages/forgotten.ts';
import { formToken } from './browser.ts';
import { mountPageWith, type Pages } from './mount-page.ts';

/** Where a person who forgot the password asks for a link. */
export function mountForgotten(pages: Pages): void {
  const { site, mailer } = pages;
  const open = { isOpenWithoutFactor: true, isOfAccounts: true } as const;
  mountPageWith(pages, pageApi.forgottenPage, open, async ({ browser }) => ({
    page: forgottenPage(site, { csrf: formToken(browser, 'browser'), hasMail: mailer.isOn }),
  }));
  mountPageWith(pages, pageApi.askForReset, { ...open, token: 'browser' }, async (call) => {
    const email = call.form.text('email').slice(0, 320);
    const csrf = formToken(call.browser, 'browser');
    const asked = mailer.isOn ? await askForReset(pages, { ...call, email }) : { wrong: undefined };
    if (asked === 'asked') return { page: mailSentPage(site, email) };
    return { status: 422, page: forgottenPage(site, { csrf, hasMail: mailer.isOn, email, ...asked }) };
  });
}

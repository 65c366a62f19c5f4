import { pageApi } from '@wts/contracts';
import { ACCOUNT_PAGES, accountPage, type AccountPageName } from '../../pages/account/layout.ts';
import type { Page } from '../../pages/layout.ts';
import type { Session } from '../../store/sessions.ts';
import { endedNewKeyCookie, formToken } from '../browser.ts';
import { mountPage, type PageAnswer, type PageCall, type Pages } from '../mount-page.ts';
import { mountAddress } from './address.ts';
import { mountApps } from './apps.ts';
import { mountFactors } from './factors.ts';
import { mountKeys } from './keys.ts';
import { mountPassword } from './password.ts';
import { mountName } from './profile.ts';
import { mountSessions } from './sessions.ts';
import { DONE, SECTIONS } from './sections.ts';
import { sessionOf, type Account, type Shown } from './view.ts';

/** The pages of an account, each with its sections, and the forms of these. */
export function mountAccount(pages: Pages): void {
  const { site } = pages;
  const open =
    (name: AccountPageName) =>
    async (call: PageCall): Promise<PageAnswer> => {
      const { session, newKey } = call.browser;
      if (session === null) return { to: site.url('/sign-in') };
      const isShown = newKey !== null && name === 'keys';
      const page = await render(pages, call, session, { name });
      return { page, ...(isShown ? { cookies: [endedNewKeyCookie(site)] } : {}) };
    };
  mountPage(pages, pageApi.accountPage, open('profile'));
  mountPage(pages, pageApi.securityPage, open('security'));
  mountPage(pages, pageApi.keysPage, open('keys'));
  mountPage(pages, pageApi.appsPage, open('apps'));
  const account: Account = {
    pages,
    refuse: async (call, name, shown) => ({
      status: 422,
      page: await render(pages, call, sessionOf(call), { name, ...shown }),
    }),
    done: (name, done) => ({ to: site.url(ACCOUNT_PAGES[name].path, { done }) }),
  };
  mountName(account);
  mountAddress(account);
  mountPassword(account);
  mountSessions(account);
  mountFactors(account);
  mountKeys(account);
  mountApps(account);
}

async function render(
  pages: Pages,
  call: PageCall,
  session: Session,
  { name, ...shown }: Shown & { readonly name: AccountPageName },
): Promise<Page> {
  const csrf = formToken(call.browser, 'session');
  const sections = await Promise.all(SECTIONS[name].map((section) => section({ pages, call, session, csrf, shown })));
  return accountPage(pages.site, {
    page: name,
    csrf,
    person: session,
    done: DONE.get(call.query.text('done')) ?? null,
    sections: sections.filter((section) => section !== null),
  });
}

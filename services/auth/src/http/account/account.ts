import { pageApi } from '@wts/contracts';
import type { PeopleContext } from '../../people-context.ts';
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
import { sessionOf, type Account, type AccountView, type Shown } from './view.ts';

/** The pages of an account, each with its sections, and the forms of these. */
export function mountAccount(pages: Pages, context: PeopleContext): void {
  const { site, sessions } = pages;
  const show = (call: PageCall, session: Session, name: AccountPageName, shown: Shown): Promise<Page> => {
    const csrf = formToken(call.browser, 'session');
    return render({ site, sessions, context, call, session, csrf, shown }, name);
  };
  const open =
    (name: AccountPageName) =>
    async (call: PageCall): Promise<PageAnswer> => {
      const { session, newKey } = call.browser;
      if (session === null) return { to: `${site.issuer}/sign-in` };
      const isShown = newKey !== null && name === 'keys';
      return { page: await show(call, session, name, {}), ...(isShown ? { cookies: [endedNewKeyCookie(site)] } : {}) };
    };
  mountPage(pages, pageApi.accountPage, open('profile'));
  mountPage(pages, pageApi.securityPage, open('security'));
  mountPage(pages, pageApi.keysPage, open('keys'));
  mountPage(pages, pageApi.appsPage, open('apps'));
  const account: Account = {
    pages,
    context,
    refuse: async (call, name, shown) => ({ status: 422, page: await show(call, sessionOf(call), name, shown) }),
    done: (name, done) => ({
      to: `${site.issuer}${ACCOUNT_PAGES[name].path}?${new URLSearchParams({ done }).toString()}`,
    }),
  };
  mountName(account);
  mountAddress(account);
  mountPassword(account);
  mountSessions(account);
  mountFactors(account);
  mountKeys(account);
  mountApps(account);
}

async function render(view: AccountView, page: AccountPageName): Promise<Page> {
  const { site, call, session, csrf } = view;
  const sections = await Promise.all(SECTIONS[page].map((section) => section(view)));
  return accountPage(site, {
    page,
    csrf,
    person: session,
    done: DONE.get(call.query.text('done')) ?? null,
    sections: sections.filter((section) => section !== null),
  });
}

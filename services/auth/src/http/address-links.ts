import { confirmAddress } from '../commands/confirm-address.ts';
import { refusalOfLink } from '../commands/may-use-link.ts';
import { makeResetLink } from '../links/make-link.ts';
import { confirmAddressPage, stopChangePage, takenPage } from '../pages/link.ts';
import { messagePage } from '../pages/message.ts';
import { formToken } from './browser.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import { pageWith, type PageAnswer, type Pages } from './mount-page.ts';

/** A person confirms the address of their account, the one it has or a new one. */
export function addressLink(pages: Pages, kind: 'verify' | 'change'): LinkPages {
  const { site, accounts } = pages;
  const show = async (opened: OpenedLink, wrong?: string): Promise<PageAnswer | 'ended'> => {
    const { call, token, accountId, address } = opened;
    const account = await accounts.find(accountId);
    if (account === null || address === null) return 'ended';
    const page = confirmAddressPage(site, {
      csrf: formToken(call.browser, 'browser'),
      token,
      address,
      name: account.name,
      needsPassword: call.browser.session?.accountId !== account.id,
      wrong,
    });
    return pageWith(page, wrong);
  };
  return {
    show,
    use: async (opened) => {
      const { call, hash: linkHash, accountId } = opened;
      const account = await accounts.find(accountId);
      if (account === null) return show(opened);
      const person = { session: call.browser.session, password: call.form.text('password'), guest: call };
      const refusal = await refusalOfLink(pages, account, person);
      if (refusal !== null) return show(opened, refusal);
      const outcome = await confirmAddress(pages, { linkHash, kind, visitor: call.visitor, accountId: account.id });
      if (outcome === 'ended') return 'ended';
      if (outcome === 'taken') return { status: 409, page: takenPage(site) };
      return {
        page: messagePage({
          title: 'Your address is confirmed',
          text: 'Invitations and notices go to it, and you sign in with it.',
          link: { to: site.path('/account'), label: 'Go to your account' },
        }),
      };
    },
  };
}

/** The owner of the old address of an account stops a change, or takes it back. Who opens the link has proved that address. */
export function stopLink(pages: Pages): LinkPages {
  const { site } = pages;
  return {
    show: async ({ call, token, address }) => {
      if (address === null) return 'ended';
      return { page: stopChangePage(site, { csrf: formToken(call.browser, 'browser'), token, address }) };
    },
    use: async ({ call, hash: linkHash, accountId }) => {
      if (accountId === null) return 'ended';
      const stopped = { linkHash, kind: 'stop-change', visitor: call.visitor, accountId } as const;
      const outcome = await confirmAddress(pages, stopped);
      if (outcome === 'ended') return 'ended';
      if (outcome === 'taken') return { status: 409, page: takenPage(site) };
      return { to: (await makeResetLink(pages, outcome.account, 'mailed')).url };
    },
  };
}

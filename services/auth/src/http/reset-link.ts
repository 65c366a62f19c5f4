import { resetPasswordByLink } from '../commands/reset-password.ts';
import type { ResetKind } from '../store/reset-password.ts';
import { newPasswordPage } from '../pages/link.ts';
import { messagePage } from '../pages/message.ts';
import { formToken } from './browser.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import { pageWith, type PageAnswer, type Pages } from './mount-page.ts';

/** A person who forgot the password, or whose account another one took, chooses another password. */
export function resetLink(pages: Pages, kind: ResetKind): LinkPages {
  const { site, accounts } = pages;
  const show = async ({ call, token, accountId }: OpenedLink, wrong?: string): Promise<PageAnswer | 'ended'> => {
    const account = await accounts.find(accountId);
    if (account === null) return 'ended';
    const csrf = formToken(call.browser, 'browser');
    return pageWith(newPasswordPage(site, { csrf, token, kind, email: account.email, wrong }), wrong);
  };
  return {
    show,
    use: async (opened) => {
      const { call, hash: linkHash, accountId } = opened;
      const password = call.form.text('password');
      const choice = { linkHash, kind, accountId: accountId ?? '', password, guest: call };
      const outcome = await resetPasswordByLink(pages, choice);
      if (outcome === 'ended') return 'ended';
      if (typeof outcome !== 'string') return show(opened, outcome.wrong);
      return {
        page: messagePage({
          ...(kind === 'take-back' ? TAKEN_BACK : DONE[outcome]),
          link: { to: site.path('/sign-in'), label: 'Sign in' },
        }),
      };
    },
  };
}

const TAKEN_BACK = {
  title: 'The account is yours again',
  text: 'All its second factors, API keys, sign-ins and apps ended. Sign in with the new password, and add a second factor of your own.',
} as const;

const DONE = {
  changed: {
    title: 'Your password is changed',
    text: 'You are signed out everywhere, and no app is connected. Sign in with the new password, and look whether all API keys are yours.',
  },
  set: { title: 'Your password is set', text: 'Sign in with your email and this password.' },
} as const;

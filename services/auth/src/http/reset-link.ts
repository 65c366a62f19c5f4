import { resetPasswordByLink } from '../commands/reset-password.ts';
import type { PeopleContext } from '../people-context.ts';
import type { ResetKind } from '../store/reset-password.ts';
import { newPasswordPage } from '../pages/link.ts';
import { messagePage } from '../pages/message.ts';
import { formToken } from './browser.ts';
import { guestOf } from './guest.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import type { PageAnswer, Pages } from './mount-page.ts';

/** A person who forgot the password, or whose account another one took, chooses another password. */
export function resetLink({ site }: Pages, context: PeopleContext, kind: ResetKind): LinkPages {
  const show = async (
    { call: { browser }, token, accountId }: OpenedLink,
    wrong?: string,
  ): Promise<PageAnswer | 'ended'> => {
    const account = accountId === null ? null : await context.accounts.find(accountId);
    if (account === null) return 'ended';
    const page = newPasswordPage(site, {
      csrf: formToken(browser, 'browser'),
      token,
      kind,
      email: account.email,
      wrong,
    });
    return { page, ...(wrong === undefined ? {} : { status: 422 }) };
  };
  return {
    show,
    use: async (opened) => {
      const { call, hash: linkHash, accountId } = opened;
      const password = call.form.text('password');
      const choice = { linkHash, kind, accountId: accountId ?? '', password, guest: guestOf(call) };
      const outcome = await resetPasswordByLink(context, choice);
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

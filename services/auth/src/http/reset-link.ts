import { resetPasswordByLink } from '../commands/reset-password.ts';
import type { PeopleContext } from '../people-context.ts';
import type { ResetKind } from '../store/reset-password.ts';
import { newPasswordPage } from '../pages/link.ts';
import { messagePage } from '../pages/message.ts';
import { formToken } from './browser.ts';
import { guestOf } from './guest.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import type { PageAnswer, Pages } from './mount-page.ts';
import { passwordsClosed } from './sign-in.ts';

/** A person who forgot the password, or whose account another one took, chooses another password. */
export function resetLink({ site }: Pages, context: PeopleContext, kind: ResetKind): LinkPages {
  const show = async (
    { call: { browser }, token, accountId }: OpenedLink,
    wrong?: string,
  ): Promise<PageAnswer | null> => {
    const account = accountId === null ? null : await context.accounts.find(accountId);
    if (account === null) return null;
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
    show: async (opened) => {
      if (!context.hasAccounts) return { status: 403, page: passwordsClosed({ site }) };
      return (await show(opened)) ?? 'ended';
    },
    use: async (opened) => {
      const { call, hash: linkHash, accountId } = opened;
      if (!context.hasAccounts) return { status: 403, page: passwordsClosed({ site }) };
      const password = call.form.text('password');
      const choice = { linkHash, kind, accountId: accountId ?? '', password, guest: guestOf(call) };
      const outcome = await resetPasswordByLink(context, choice);
      if (outcome === 'ended') return 'ended';
      if (typeof outcome !== 'string') return (await show(opened, outcome.wrong)) ?? 'ended';
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

import { resetPasswordByLink } from '../commands/reset-password.ts';
import type { PeopleContext } from '../people-context.ts';
import { newPasswordPage } from '../pages/link.ts';
import { messagePage } from '../pages/message.ts';
import { formToken } from './browser.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import type { PageAnswer, Pages } from './mount-page.ts';
import { passwordsClosed } from './sign-in.ts';

/** A person who forgot the password chooses another one. */
export function resetLink({ site }: Pages, context: PeopleContext): LinkPages {
  const show = async (
    { call: { browser }, token, accountId }: OpenedLink,
    wrong?: string,
  ): Promise<PageAnswer | null> => {
    const account = accountId === null ? null : await context.accounts.find(accountId);
    if (account === null) return null;
    const page = newPasswordPage(site, { csrf: formToken(browser, 'browser'), token, email: account.email, wrong });
    return { page, ...(wrong === undefined ? {} : { status: 422 }) };
  };
  return {
    show: async (opened) => {
      if (!context.hasAccounts) return { status: 403, page: passwordsClosed({ site }) };
      return (await show(opened)) ?? 'ended';
    },
    use: async (opened) => {
      const { call, hash: linkHash, accountId } = opened;
      const { browser, network, visitor, signal, requestId, form } = call;
      if (!context.hasAccounts) return { status: 403, page: passwordsClosed({ site }) };
      const guest = { browserId: browser.id, network, visitor, signal };
      const choice = { linkHash, accountId: accountId ?? '', password: form.text('password'), guest };
      const outcome = await resetPasswordByLink(context, choice, {
        requestId,
        signal,
      });
      if (outcome === 'ended') return 'ended';
      if (typeof outcome !== 'string') return (await show(opened, outcome.wrong)) ?? 'ended';
      return {
        page: messagePage({
          ...DONE[outcome],
          link: { to: site.path('/sign-in'), label: 'Sign in' },
        }),
      };
    },
  };
}

const DONE = {
  changed: {
    title: 'Your password is changed',
    text: 'You are signed out everywhere, and no app is connected. Sign in with the new password, and look whether all API keys are yours.',
  },
  set: { title: 'Your password is set', text: 'Sign in with your email and this password.' },
} as const;

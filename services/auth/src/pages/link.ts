import type { MailLink } from '../store/mail-links.ts';
import { PASSWORD_BYTES } from '../domain/password-rules.ts';
import { html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { messagePage } from './message.ts';
import { field, form, note } from './parts.ts';

interface NewPasswordPage {
  readonly csrf: string;
  readonly token: string;
  readonly email: string;
  readonly wrong: string | undefined;
}

/** For a person who forgot the password. */
export function newPasswordPage(site: Site, { csrf, token, email, wrong }: NewPasswordPage): Page {
  return {
    title: 'Choose a new password',
    body: html`<h1>Choose a new password</h1>
      <p class="quiet">It signs you out everywhere and disconnects all apps. API keys stay.</p>
      ${note('wrong', wrong ?? null)}
      ${form(
        site.path('/link'),
        { csrf, token },
        html`${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', value: email, isFixed: true })}
          ${field({ label: 'New password', name: 'password', type: 'password', autocomplete: 'new-password', isFirst: true, lengthMin: PASSWORD_BYTES.min, hint: `At least ${PASSWORD_BYTES.min} characters. A few words are easy to remember.` })}
          <button type="submit">Change password</button>`,
      )}`,
  };
}

const ENDED: Readonly<Record<MailLink['state'], readonly [title: string, text: string]>> = {
  // Its account was deleted.
  open: ['This link is no longer valid', 'Its account does not exist any more.'],
  used: [
    'This link was used already',
    'Each link works once. If it was not you who used it, ask for a new one at once.',
  ],
  expired: ['This link has expired', 'Ask for a new one.'],
  replaced: ['There is a newer link', 'Only the newest link works. Open the last message that you got.'],
};

/** Says why a link works no more, and what to do. */
export function endedLinkPage(site: Site, link: Pick<MailLink, 'state'> | null): Page {
  const [title, text] =
    link === null
      ? ['This link is not valid', 'Copy the whole address from the message, or ask for a new link.']
      : ENDED[link.state];
  return messagePage({ title, text, link: { to: site.path('/sign-in'), label: 'Go to the sign-in' } });
}

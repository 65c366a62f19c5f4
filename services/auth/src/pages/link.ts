import type { MailLink } from '../store/mail-links.ts';
import type { ResetKind } from '../store/reset-password.ts';
import { html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { messagePage } from './message.ts';
import { field, form, named, newPasswordField, note } from './parts.ts';

interface NewPasswordPage {
  readonly csrf: string;
  readonly token: string;
  readonly kind: ResetKind;
  readonly email: string;
  readonly wrong: string | undefined;
}

const WHAT_ENDS: Readonly<Record<ResetKind, { readonly title: string; readonly text: string }>> = {
  reset: { title: 'Choose a new password', text: 'It signs you out everywhere and disconnects all apps.' },
  'take-back': {
    title: 'Take your account back',
    text: 'It removes all second factors and API keys, signs you out everywhere and disconnects all apps. Do this only if it was not you who added the second factor.',
  },
};

/** For a person who forgot the password, or whose account another one took. */
export function newPasswordPage(site: Site, { csrf, token, kind, email, wrong }: NewPasswordPage): Page {
  const { title, text } = WHAT_ENDS[kind];
  return {
    title,
    body: html`<h1>${title}</h1>
      <p class="quiet">${text}</p>
      ${note('wrong', wrong)}
      ${form(
        site.path('/link'),
        { csrf, token },
        html`${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', value: email, isFixed: true })}
          ${newPasswordField({ label: 'New password', isFirst: true })} <button type="submit">Change password</button>`,
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

interface ConfirmAddressPage {
  readonly csrf: string;
  readonly token: string;
  readonly address: string;
  /** Of an account that exists. */
  readonly name: string | null;
  /** In a browser of which nothing is known. */
  readonly needsPassword: boolean;
  readonly wrong: string | undefined;
}

export function confirmAddressPage(site: Site, options: ConfirmAddressPage): Page {
  const { csrf, token, address, name, needsPassword, wrong } = options;
  return {
    title: 'Confirm your address',
    body: html`<h1>Confirm your address</h1>
      <p>
        ${name === null ? html`You asked for an account with the address ${named(address)}.` : html`The account of ${named(name)} gets the address ${named(address)}.`}
      </p>
      ${
        needsPassword
          ? html`<p class="quiet">
              This is another browser, so enter
              ${name === null ? 'the password that you chose' : html`the password of the account, or <a href="${site.path('/sign-in')}">sign in</a> and open the link again`}.
            </p>`
          : null
      }
      ${note('wrong', wrong)}
      ${form(
        site.path('/link'),
        { csrf, token },
        html`${needsPassword ? field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password', isFirst: true }) : null}
          <button type="submit">Confirm</button>`,
      )}
      <p class="foot">If you did not ask for this, close the page: nothing changes.</p>`,
  };
}

interface StopChangePage {
  readonly csrf: string;
  readonly token: string;
  readonly address: string;
}

export function stopChangePage(site: Site, { csrf, token, address }: StopChangePage): Page {
  return {
    title: 'Stop the change of your address?',
    body: html`<h1>Stop the change of your address?</h1>
      <p>
        Your account keeps or gets back the address ${named(address)}. It is signed out everywhere, its apps are
        disconnected, and you choose a new password.
      </p>
      ${form(site.path('/link'), { csrf, token }, html`<button type="submit" class="danger">Stop the change</button>`)}
      <p class="foot">If you asked for the change, close the page: nothing is stopped.</p>`,
  };
}

export function takenPage(site: Site): Page {
  return messagePage({
    title: 'Another account has this address',
    text: 'Sign in with that account. If you forgot its password, ask for a new one there.',
    link: { to: site.path('/sign-in'), label: 'Sign in' },
  });
}

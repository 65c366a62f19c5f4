import { html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { field, form, named, note } from './parts.ts';

interface ForgottenPage {
  readonly csrf: string;
  readonly hasMail: boolean;
  readonly email?: string;
  readonly wrong?: string | undefined;
}

export function forgottenPage(site: Site, { csrf, hasMail, email = '', wrong }: ForgottenPage): Page {
  const ask = form(
    site.path('/forgot-password'),
    { csrf },
    html`${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username', value: email, isFirst: true, lengthMax: 320 })}
      <button type="submit">Send a link</button>`,
  );
  return {
    title: 'Forgot your password?',
    body: html`<h1>Forgot your password?</h1>
      ${
        hasMail
          ? html`<p class="quiet">We send a link to your address, with which you choose a new one.</p>
              ${note('wrong', wrong)} ${ask}`
          : html`<p>This service sends no mail. Ask its operator for a link to choose a new password.</p>`
      }
      <p class="foot"><a href="${site.path('/sign-in')}">Back to the sign-in</a></p>`,
  };
}

/** The same for every address. */
export function mailSentPage(site: Site, email: string): Page {
  return {
    title: 'Look into your mail',
    body: html`<h1>Look into your mail</h1>
      <p>
        If there is an account with the address ${named(email)}, a message with a link is on its way to it. The link
        works once, for 30 minutes.
      </p>
      <p class="quiet small">Nothing came? Look into your spam folder, and check the address.</p>
      <a class="button plain" href="${site.path('/sign-in')}">Back to the sign-in</a>`,
  };
}

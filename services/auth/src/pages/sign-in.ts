import { html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { passkeyPart } from './passkey-part.ts';
import { field, form, named, note, type Fields } from './parts.ts';

interface SignInPage {
  readonly csrf: string;
  /** What the person does after the sign-in. */
  readonly next: Fields;
  /** The name of the app that waits for the sign-in. */
  readonly appName: string | null;
  readonly hasAccounts: boolean;
  /** The name of the identity provider, when there is one. */
  readonly providerName: string | null;
  /** For a passkey alone; null where none works. */
  readonly passkeyOptions: object | null;
  readonly email?: string;
  readonly wrong?: string | undefined;
}

export function signInPage(site: Site, options: SignInPage): Page {
  const { csrf, next, appName, hasAccounts, providerName, passkeyOptions, email = '', wrong } = options;
  const query = new URLSearchParams(
    Object.entries(next).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]])),
  );
  const providerLink = site.path(`/sign-in/provider${query.size === 0 ? '' : `?${query.toString()}`}`);
  const byPassword = form(
    site.path('/sign-in'),
    { csrf, ...next },
    html`${field({ label: 'Email', name: 'email', type: 'email', autocomplete: 'username webauthn', value: email, isFirst: email === '', lengthMax: 320 })}
      ${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password', isFirst: email !== '' })}
      <button type="submit">Sign in</button>
      <p class="small"><a href="${site.path('/forgot-password')}">Forgot your password?</a></p>`,
  );
  const byPasskey =
    passkeyOptions === null
      ? null
      : form(
          site.path('/sign-in/passkey'),
          { csrf, ...next },
          passkeyPart({
            options: passkeyOptions,
            kind: 'get',
            label: 'Sign in with a passkey',
            isPlain: true,
            hasAutofill: true,
          }),
        );
  const byProvider =
    providerName === null
      ? null
      : html`<a class="button${hasAccounts ? ' plain' : ''}" href="${providerLink}">Sign in with ${providerName}</a>`;
  return {
    title: 'Sign in',
    hasPasskeys: passkeyOptions !== null,
    body: html`<h1>Sign in</h1>
      <p class="quiet">
        ${appName === null ? 'Your account, your apps and your API keys.' : html`to continue to <strong>${named(appName)}</strong>`}
      </p>
      ${note('wrong', wrong)} ${hasAccounts ? byPassword : null} ${byPasskey}
      ${hasAccounts && byProvider !== null ? html`<p class="or">or</p>` : null} ${byProvider}
      ${hasAccounts || byProvider !== null ? null : html`<p class="note">There is no way to sign in here. The operator of this service can set one up.</p>`}
      ${hasAccounts ? html`<p class="foot">New here? <a href="${site.path('/join')}">Join with an invitation</a></p>` : null}`,
  };
}

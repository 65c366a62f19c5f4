import { html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { field, form, hiddenEmail, note, type Fields } from './parts.ts';
import { passkeyPart } from './passkey-part.ts';

interface AskAgainPage {
  /** The form that waits: its path, and all its fields. */
  readonly action: string;
  readonly fields: Fields;
  /** What the person is about to do, as in "To add a passkey, ...". */
  readonly purpose: string;
  readonly email: string;
  readonly passkeyOptions: object | null;
  readonly wrong: string | null;
  readonly leadsTo: readonly string[];
}

/** Asks for the password or a passkey again, and then goes on with the form that was sent. */
export function askAgainPage(
  site: Site,
  { action, fields, purpose, email, passkeyOptions, wrong, leadsTo }: AskAgainPage,
): Page {
  const byPasskey =
    passkeyOptions === null
      ? null
      : html`<p class="or">or</p>
          ${form(site.path(action), fields, html`<input type="hidden" name="again" value="passkey" />${passkeyPart({ options: passkeyOptions, kind: 'get', label: 'Use a passkey', isPlain: true, field: 'again_passkey' })}`)}`;
  return {
    title: 'Confirm it is you',
    hasPasskeys: passkeyOptions !== null,
    leadsTo,
    body: html`<h1>Confirm it is you</h1>
      <p class="quiet">You signed in some time ago. To ${purpose}, enter your password again.</p>
      ${note('wrong', wrong)}
      ${form(
        site.path(action),
        fields,
        html`<input type="hidden" name="again" value="password" />${hiddenEmail('again_email', email)}
          ${field({ label: 'Password', name: 'again_password', type: 'password', autocomplete: 'current-password', isFirst: true })}
          <div class="choices">
            <button type="submit">Continue</button>
            <a class="button plain" href="${site.path('/account')}">Cancel</a>
          </div>`,
      )}
      ${byPasskey}`,
  };
}

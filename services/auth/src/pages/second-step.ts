import { html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { field, form, note, type Fields } from './parts.ts';
import { passkeyPart } from './passkey-part.ts';

interface SecondStepPage {
  readonly csrf: string;
  /** Identifies the sign-in, whose password was right. */
  readonly step: string;
  /** For the passkeys of the account; null without one. */
  readonly passkeyOptions: object | null;
  readonly hasApp: boolean;
  readonly wrong: string | undefined;
}

/** After a right password. */
export function secondStepPage(site: Site, { csrf, step, passkeyOptions, hasApp, wrong }: SecondStepPage): Page {
  const action = site.path('/sign-in/factor');
  const fields: Fields = { csrf, step };
  const byPasskey =
    passkeyOptions === null
      ? null
      : form(action, fields, passkeyPart({ options: passkeyOptions, kind: 'get', label: 'Use a passkey' }));
  const byApp = hasApp
    ? form(
        action,
        fields,
        html`${field({ label: 'Code of your authenticator app', name: 'code', autocomplete: 'one-time-code', inputMode: 'numeric', isFirst: true, lengthMax: 60 })}
          <button type="submit">Continue</button>`,
      )
    : null;
  const byRecoveryCode = form(
    action,
    fields,
    html`${field({ label: 'Recovery code', name: 'recovery', autocomplete: 'off', lengthMax: 60, hint: 'One of the codes that you kept when you set this up. It works once.' })}
      <button type="submit" class="plain">Use the recovery code</button>`,
  );
  return {
    title: 'Second factor',
    hasPasskeys: passkeyOptions !== null,
    body: html`<h1>Confirm it is you</h1>
      <p class="quiet">Your password is right. One more step protects your account.</p>
      ${note('wrong', wrong)} ${byPasskey} ${byPasskey !== null && byApp !== null ? html`<p class="or">or</p>` : null}
      ${byApp}
      <details class="more">
        <summary>Another way</summary>
        ${byRecoveryCode}
      </details>
      <p class="foot"><a href="${site.path('/sign-in')}">Start again</a></p>`,
  };
}

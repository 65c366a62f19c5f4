import { html, type Html } from '../html.ts';
import type { Site } from '../layout.ts';
import { field, form, hiddenEmail, newPasswordField, note } from '../parts.ts';

interface PasswordSection {
  readonly csrf: string;
  readonly email: string;
  /** The first field of the form has the focus then. */
  readonly wrong: string | null;
}

export function passwordSection(site: Site, { csrf, email, wrong }: PasswordSection): Html {
  return html`<section aria-labelledby="password-title">
    <h2 id="password-title">Password</h2>
    <p class="quiet">A change signs you out everywhere else and disconnects all apps. API keys stay.</p>
    ${note('wrong', wrong)}
    ${form(
      site.path('/account/password'),
      { csrf },
      html`${hiddenEmail('email', email)}
        ${field({ label: 'Current password', name: 'current', type: 'password', autocomplete: 'current-password', isFirst: wrong !== null })}
        ${newPasswordField({ label: 'New password' })} <button type="submit" class="plain">Change password</button>`,
    )}
  </section>`;
}

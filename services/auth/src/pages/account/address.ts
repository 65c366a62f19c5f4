import { html, type Html } from '../html.ts';
import type { Site } from '../layout.ts';
import { field, form, named, note } from '../parts.ts';

interface AddressSection {
  readonly csrf: string;
  /** Empty for an account that lost its address to the person who proved it. */
  readonly email: string;
  readonly isVerified: boolean;
  readonly hasMail: boolean;
  /** What was entered as the new one. */
  readonly entered: string | undefined;
  readonly wrong: string | null;
}

export function addressSection(site: Site, options: AddressSection): Html {
  const { csrf, email, isVerified, hasMail, entered = '', wrong } = options;
  return html`<section aria-labelledby="address-title">
    <h2 id="address-title">Email address</h2>
    ${
      email === ''
        ? html`<p class="note careful">
            Another person confirmed the address that you had, and your account lost it. Enter your own address here, or
            you cannot sign in again.
          </p>`
        : html`<p>${named(email)} <span class="quiet small">${isVerified ? 'confirmed' : 'not confirmed'}</span></p>`
    }
    ${
      hasMail
        ? null
        : html`<p class="quiet small">
            This service sends no mail, so an address can neither be confirmed nor changed.
          </p>`
    }
    ${
      hasMail && email !== '' && !isVerified
        ? form(
            site.path('/account/address/verify'),
            { csrf },
            html`<button type="submit" class="plain">Send a link to confirm it</button>`,
          )
        : null
    }
    ${note('wrong', wrong)}
    ${
      hasMail
        ? form(
            site.path('/account/address'),
            { csrf },
            html`${field({ label: 'New email', name: 'email', type: 'email', autocomplete: 'email', value: entered, isFirst: wrong !== null, lengthMax: 320, hint: 'It changes when you open the link that we send there.' })}
              <button type="submit" class="plain">Change address</button>`,
          )
        : null
    }
  </section>`;
}

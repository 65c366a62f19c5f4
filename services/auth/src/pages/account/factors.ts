import { encodeQR } from 'qr';
import { shownName } from '../../domain/shown-name.ts';
import type { Passkey } from '../../store/second-factors.ts';
import { html, Html } from '../html.ts';
import type { Page, Site } from '../layout.ts';
import { endLink, list, row } from './rows.ts';
import { day } from './words.ts';
import { ACCOUNT_PAGES } from './layout.ts';
import { field, form, named, note, type Fields } from '../parts.ts';
import { passkeyPart } from '../passkey-part.ts';

export interface FactorsShown {
  readonly csrf: string;
  readonly passkeys: readonly Pick<Passkey, 'id' | 'name' | 'createdAt' | 'lastUsedAt'>[];
  readonly totpSince: Date | null;
  readonly recoveryCodesLeft: number;
  /** For a new passkey; null where the site has no host name, which passkeys need. */
  readonly passkeyOptions: object | null;
  /** The name that a new passkey has unless the person writes another one. */
  readonly passkeyName: string;
  readonly isRequired: boolean;
  readonly wrong?: string | null;
}

/** The second factors of a person, with what adds and removes them. */
export function factorsSection(site: Site, shown: FactorsShown): Html {
  return html`<section aria-labelledby="factors">
    <h2 id="factors">Second factor</h2>
    <p class="quiet">
      With a passkey or an authenticator app, a password alone does not open your account.
      ${shown.isRequired ? 'One is required of you.' : null}
    </p>
    ${factorChoices(site, shown)}
  </section>`;
}

interface EnrolPage extends FactorsShown {
  readonly next: Fields;
}

/** For a person of whom a second factor is required and who has none: no other page is open to members. */
export function enrolPage(site: Site, shown: EnrolPage): Page {
  const { csrf } = shown;
  return {
    title: 'Add a second factor',
    hasPasskeys: shown.passkeyOptions !== null,
    body: html`<h1>Add a second factor</h1>
      <p class="quiet">
        This service, or a workspace of yours, requires one. What you came for, and your API keys, work when you have
        added it.
      </p>
      ${factorChoices(site, shown, shown.next)}
      <div class="foot">
        ${form(site.path('/sign-out'), { csrf }, html`<button type="submit" class="plain small">Sign out</button>`)}
      </div>`,
  };
}

function factorChoices(site: Site, shown: FactorsShown, next: Fields = {}): Html {
  const { csrf, passkeys, totpSince, recoveryCodesLeft, passkeyOptions, passkeyName, wrong = null } = shown;
  const rows = passkeys.map(({ id, name, createdAt, lastUsedAt }) => {
    const used = lastUsedAt === null ? 'never used' : html`used ${day(lastUsedAt)}`;
    const about = html`Passkey · added ${day(createdAt)} · ${used}`;
    return removableRow(site, { name, about, path: `/account/passkeys/${id}/remove` });
  });
  if (totpSince !== null) {
    const about = html`set up ${day(totpSince)}`;
    rows.push(removableRow(site, { name: 'Authenticator app', about, path: '/account/totp/remove' }));
  }
  const hasFactor = rows.length > 0;
  const newPasskey = form(
    site.path('/account/passkeys'),
    { csrf, ...next },
    passkeyPart({
      options: passkeyOptions ?? {},
      kind: 'create',
      label: 'Add a passkey',
      isPlain: hasFactor,
      content: field({
        label: 'Name of a new passkey',
        name: 'name',
        autocomplete: 'off',
        value: passkeyName,
        lengthMax: 60,
      }),
    }),
  );
  return html`${note('wrong', wrong)} ${list(rows, null)}
  ${passkeyOptions === null ? html`<p class="note">Passkeys need a host name; this service is at an IP address.</p>` : newPasskey}
  ${form(
    site.path('/account/totp'),
    { csrf, ...next },
    html`<button type="submit" ${hasFactor || passkeyOptions !== null ? html` class="plain"` : null}>
      ${totpSince === null ? 'Set up an authenticator app' : 'Replace the authenticator app'}
    </button>`,
  )}
  ${hasFactor ? recoveryRow(site, csrf, recoveryCodesLeft) : null}`;
}

function removableRow(site: Site, { name, about, path }: { name: string; about: Html; path: string }): Html {
  const shown = shownName(name);
  return row({ name: shown, about, end: endLink(site, path, 'Remove', `Remove ${shown}`) });
}

function recoveryRow(site: Site, csrf: string, left: number): Html {
  const text =
    left === 1
      ? '1 recovery code is left. It opens your account once when your device is lost.'
      : `${left} recovery codes are left. Each opens your account once when your device is lost.`;
  return html`<p class="note${left < FEW ? ' careful' : ''}">${text}</p>
    ${form(
      site.path('/account/recovery-codes'),
      { csrf },
      html`<button type="submit" class="plain">Make new recovery codes</button>`,
    )}`;
}

const FEW = 3;

interface TotpPage {
  readonly csrf: string;
  readonly setup: string;
  readonly next: Fields;
  /** The secret as text, and the address that the QR code holds. */
  readonly secret: string;
  readonly address: string;
  readonly wrong: string | undefined;
}

/** Shows the secret of a new authenticator app until a code of it was right. */
export function totpPage(site: Site, { csrf, setup, next, secret, address, wrong }: TotpPage): Page {
  return {
    title: 'Set up an authenticator app',
    body: html`<h1>Set up an authenticator app</h1>
      <p class="quiet">Scan the code with the app, or enter the key there. Then enter the code that the app shows.</p>
      <div class="qr" role="img" aria-label="QR code with the key below">
        ${new Html(encodeQR(address, 'svg', { border: 4 }))}
      </div>
      <p class="small">Key<code class="token">${secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>
      ${note('wrong', wrong)}
      ${form(
        site.path('/account/totp/confirm'),
        { csrf, setup, ...next },
        html`${field({ label: 'Code', name: 'code', autocomplete: 'one-time-code', inputMode: 'numeric', isFirst: true, lengthMax: 20 })}
          <button type="submit">Set up</button>`,
      )}
      <p class="foot"><a href="${site.path(ACCOUNT_PAGES.security.path)}">Cancel</a></p>`,
  };
}

/** Shows recovery codes once. */
export function recoveryCodesPage({ added, codes, to }: { added: string; codes: readonly string[]; to: string }): Page {
  return {
    title: 'Your recovery codes',
    body: html`<h1>Keep your recovery codes</h1>
      ${note('done', added)}
      <p>Each opens your account once, with your password, when your device is lost. They are not shown again.</p>
      <ul class="codes">
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ul>
      <p class="quiet small">Save them in a password manager, or print this page.</p>
      <a class="button" href="${to}">I have saved them</a>`,
  };
}

/** The heading of a question before a factor is removed. */
export function removalHeading(name: string): Html {
  return html`Remove ${named(name)}?`;
}

import type { ApiKey, GrantScope } from '@wts/contracts';
import type { WorkspaceChoice } from '../store/workspaces.ts';
import { shownAppName, shownName } from '../domain/shown-name.ts';
import { PASSWORD_BYTES } from '../domain/password-rules.ts';
import { html, type Html } from './html.ts';
import { ACCESS_TEXTS, keyChoices } from './key-choices.ts';
import type { Page, Site } from './layout.ts';
import { field, form, named, note } from './parts.ts';

export interface ConnectedApp {
  readonly id: string;
  readonly clientName: string | null;
  readonly scopes: readonly GrantScope[];
  readonly createdAt: Date;
  readonly usedAt: Date;
  readonly expiresAt: Date;
  readonly workspaceId: string | null;
}

export interface AccountPage {
  readonly csrf: string;
  readonly person: { readonly name: string; readonly email: string | null };
  readonly apps: readonly ConnectedApp[];
  /** How many more there are. */
  readonly appsLeftOut: number;
  readonly keys: readonly ApiKey[];
  /** Null for a person who signs in at the identity provider. */
  readonly accountEmail: string | null;
  /** The token of a key that was just created. It is shown here only. */
  readonly newKey?: { readonly label: string; readonly token: string };
  /** Those of the person, to which a key can be limited. */
  readonly workspaces: readonly WorkspaceChoice[];
  /** The address of the API, which has pages of its own. */
  readonly apiUrl: string;
  /** What was entered as the name of a key that is refused. */
  readonly label?: string;
  readonly done?: string;
  /** The first field of its form has the focus, so that a browser shows that and not the top of the page. */
  readonly wrong?: { readonly about: 'password' | 'keys'; readonly text: string };
}

export function accountPage(site: Site, options: AccountPage): Page {
  const { csrf, person, done = null } = options;
  return {
    title: 'Your account',
    isWide: true,
    body: html`<div class="head">
        <div>
          <h1>${named(person.name)}</h1>
          <p class="quiet">${person.email === null ? 'No email' : named(person.email)}</p>
        </div>
        ${form(site.path('/sign-out'), { csrf }, html`<button type="submit" class="plain small">Sign out</button>`)}
      </div>
      <nav class="links" aria-label="Other pages">
        <a href="${options.apiUrl}/docs">API reference</a> <a href="${options.apiUrl}/console">Webhooks console</a>
      </nav>
      ${done === null ? null : html`<section>${note('done', done)}</section>`} ${appsOf(site, options)}
      ${keysOf(site, options)} ${passwordOf(site, options)}`,
  };
}

function appsOf(site: Site, { apps, appsLeftOut, workspaces }: AccountPage): Html {
  const rows = apps.map(({ id, clientName, scopes, createdAt, usedAt, expiresAt, workspaceId }) => {
    const name = shownAppName(clientName);
    const may = scopes.includes('write') ? 'Can read and change' : 'Can read';
    const where = workspaceId === null ? null : html` in ${nameOf(workspaces, workspaceId)}`;
    return html`<li>
      <div class="what">
        <bdi class="name">${name}</bdi
        ><span class="quiet small"
          >${may}${where} · allowed ${day(createdAt)} · used ${day(usedAt)} · ${endOf(expiresAt.toISOString())}</span
        >
      </div>
      <a
        class="button plain small"
        href="${site.path(`/account/apps/${id}/revoke`)}"
        aria-label="Revoke access of ${name}"
        >Revoke</a
      >
    </li>`;
  });
  return html`<section aria-labelledby="apps">
    <h2 id="apps">Connected apps</h2>
    <p class="quiet">Apps that you allowed to use your account. A revoked app loses access within a second.</p>
    ${
      rows.length === 0
        ? html`<p class="note">No app is connected.</p>`
        : html`<ul class="rows">
            ${rows}
          </ul>`
    }
    ${appsLeftOut === 0 ? null : html`<p class="note">These are the newest; ${appsLeftOut} older ${appsLeftOut === 1 ? 'one is' : 'ones are'} not shown. Revoke some to see more.</p>`}
  </section>`;
}

function keysOf(site: Site, { csrf, keys, newKey, wrong, label: entered = '', workspaces }: AccountPage): Html {
  const rows = keys.map(({ id, label, keyPrefix, permissions, workspaceId, expiresAt, createdAt, lastUsedAt }) => {
    const used = lastUsedAt === null ? html`never used` : html`used ${day(new Date(lastUsedAt))}`;
    const name = shownName(label);
    const where = workspaceId === null ? null : html` in ${nameOf(workspaces, workspaceId)}`;
    return html`<li>
      <div class="what">
        <bdi class="name">${name}</bdi
        ><span class="quiet small"
          >${keyPrefix}… · ${ACCESS_TEXTS[permissions]}${where} · created ${day(new Date(createdAt))} · ${used} ·
          ${endOf(expiresAt)}</span
        >
      </div>
      <a
        class="button plain small"
        href="${site.path(`/account/keys/${id}/revoke`)}"
        aria-label="Revoke the key ${name}"
        >Revoke</a
      >
    </li>`;
  });
  return html`<section aria-labelledby="keys">
    <h2 id="keys">API keys</h2>
    <p class="quiet">For scripts and integrations. A key acts as you, with the access that you give it.</p>
    ${newKey === undefined ? null : html`<div class="note done" role="status">The key “${named(newKey.label)}” is created. Copy it now, it is not shown again.<code class="token">${newKey.token}</code></div>`}
    ${note('wrong', wrong?.about === 'keys' ? wrong.text : null)}
    ${
      rows.length === 0
        ? null
        : html`<ul class="rows">
            ${rows}
          </ul>`
    }
    ${form(
      site.path('/account/keys'),
      { csrf },
      html`${field({ label: 'Name of a new key', name: 'label', autocomplete: 'off', value: entered, isFirst: wrong?.about === 'keys', lengthMax: 100 })}
        ${keyChoices(workspaces)} <button type="submit">Create key</button>`,
    )}
  </section>`;
}

function nameOf(workspaces: readonly WorkspaceChoice[], workspaceId: string): Html {
  const name = workspaces.find(({ id }) => id === workspaceId)?.name;
  return name === undefined ? html`a workspace that you left` : named(name);
}

function endOf(expiresAt: string | null): Html {
  if (expiresAt === null) return html`does not expire`;
  const at = new Date(expiresAt);
  return at <= new Date() ? html`expired ${day(at)}` : html`expires ${day(at)}`;
}

function passwordOf(site: Site, { csrf, accountEmail, wrong }: AccountPage): Html | null {
  if (accountEmail === null) return null;
  const fault = wrong?.about === 'password' ? wrong.text : null;
  return html`<section aria-labelledby="password-title">
    <h2 id="password-title">Password</h2>
    <p class="quiet">A change signs you out everywhere else and disconnects all apps. API keys stay.</p>
    ${note('wrong', fault)}
    ${form(
      site.path('/account/password'),
      { csrf },
      html`<input
          type="email"
          name="email"
          value="${accountEmail}"
          autocomplete="username"
          aria-label="Email"
          readonly
          hidden
        />
        ${field({ label: 'Current password', name: 'current', type: 'password', autocomplete: 'current-password', isFirst: fault !== null })}
        ${field({ label: 'New password', name: 'password', type: 'password', autocomplete: 'new-password', lengthMin: PASSWORD_BYTES.min, hint: `At least ${PASSWORD_BYTES.min} characters. A few words are easy to remember.` })}
        <button type="submit" class="plain">Change password</button>`,
    )}
  </section>`;
}

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

function day(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${DAY.format(at)}</time>`;
}

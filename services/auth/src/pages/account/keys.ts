import type { ApiKey, WorkspaceOfPerson } from '@wts/contracts';
import { shownName } from '../../domain/shown-name.ts';
import { html, type Html } from '../html.ts';
import { ACCESS_TEXTS, keyChoices } from '../key-choices.ts';
import type { Site } from '../layout.ts';
import { field, form, named, note } from '../parts.ts';
import { endLink, list, row } from './rows.ts';
import { day, endOf, nameOfWorkspace } from './words.ts';

interface KeysSection {
  readonly csrf: string;
  readonly keys: readonly ApiKey[];
  /** The token of a key that was just created. It is shown here only. */
  readonly newKey: { readonly label: string; readonly token: string } | null;
  /** Those of the person, to which a key can be limited. */
  readonly workspaces: readonly WorkspaceOfPerson[];
  /** What was entered as the name of a key that is refused. */
  readonly label: string | undefined;
  /** The first field of the form has the focus then, so that a browser shows that and not the top of the page. */
  readonly wrong: string | null;
}

export function keysSection(
  site: Site,
  { csrf, keys, newKey, wrong, label: entered = '', workspaces }: KeysSection,
): Html {
  const rows = keys.map(({ id, label, keyPrefix, permissions, workspaceId, expiresAt, createdAt, lastUsedAt }) => {
    const used = lastUsedAt === null ? html`never used` : html`used ${day(new Date(lastUsedAt))}`;
    const name = shownName(label);
    const where = workspaceId === null ? null : html` in ${nameOfWorkspace(workspaces, workspaceId)}`;
    return row({
      name,
      about: html`${keyPrefix}… · ${ACCESS_TEXTS[permissions]}${where} · created ${day(new Date(createdAt))} · ${used} ·
      ${endOf(expiresAt === null ? null : new Date(expiresAt))}`,
      end: endLink(site, `/account/keys/${id}/revoke`, 'Revoke', `Revoke the key ${name}`),
    });
  });
  return html`<section aria-labelledby="keys">
    <h2 id="keys">API keys</h2>
    <p class="quiet">For scripts and integrations. A key acts as you, with the access that you give it.</p>
    ${newKey === null ? null : html`<div class="note done" role="status">The key “${named(newKey.label)}” is created. Copy it now, it is not shown again.<code class="token">${newKey.token}</code></div>`}
    ${note('wrong', wrong)} ${list(rows, null)}
    ${form(
      site.path('/account/keys'),
      { csrf },
      html`${field({ label: 'Name of a new key', name: 'label', autocomplete: 'off', value: entered, isFirst: wrong !== null, lengthMax: 100 })}
        ${keyChoices(workspaces)} <button type="submit">Create key</button>`,
    )}
  </section>`;
}

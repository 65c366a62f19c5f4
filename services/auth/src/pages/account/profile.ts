import type { WorkspaceOfPerson } from '@wts/contracts';
import { html, type Html } from '../html.ts';
import type { Site } from '../layout.ts';
import { field, form, named, note } from '../parts.ts';
import { list } from './rows.ts';

interface NameSection {
  readonly csrf: string;
  readonly name: string;
  readonly wrong: string | null;
}

export function nameSection(site: Site, { csrf, name, wrong }: NameSection): Html {
  return html`<section aria-labelledby="name-title">
    <h2 id="name-title">Name</h2>
    <p class="quiet">Everyone who shares a workspace with you sees it.</p>
    ${note('wrong', wrong)}
    ${form(
      site.path('/account/name'),
      { csrf },
      html`${field({ label: 'Your name', name: 'name', autocomplete: 'name', value: name, isFirst: wrong !== null, lengthMax: 200 })}
        <button type="submit" class="plain">Save name</button>`,
    )}
  </section>`;
}

interface WorkspacesSection {
  readonly found: readonly WorkspaceOfPerson[];
  /** Addresses that did not answer. */
  readonly away: readonly string[];
}

export function workspacesSection({ found, away }: WorkspacesSection): Html {
  const rows = found.map(
    ({ name, role }) =>
      html`<li><span class="name">${named(name)}</span> <span class="quiet small">${role}</span></li>`,
  );
  const none = html`<p class="note">You are in no workspace. Someone with the right to invite sends you a link.</p>`;
  return html`<section aria-labelledby="workspaces">
    <h2 id="workspaces">Workspaces</h2>
    ${list(rows, away.length === 0 ? none : null)}
    ${note('careful', away.length === 0 ? null : `Workspaces at ${away.join(', ')} are missing: there is no answer.`)}
  </section>`;
}

/** The address of the API, which has pages of its own. */
export function linksSection(apiUrl: string): Html {
  return html`<section aria-labelledby="links">
    <h2 id="links">For developers</h2>
    <nav class="links" aria-label="Other pages">
      <a href="${apiUrl}/docs">API reference</a> <a href="${apiUrl}/console">Webhooks console</a>
    </nav>
  </section>`;
}

import type { Membership } from '../../store/workspaces.ts';
import { html, type Html } from '../html.ts';
import { named } from '../parts.ts';

export function workspacesSection(workspaces: readonly Membership[]): Html {
  const rows = workspaces.map(
    ({ name, role }) =>
      html`<li><span class="name">${named(name)}</span> <span class="quiet small">${role}</span></li>`,
  );
  return html`<section aria-labelledby="workspaces">
    <h2 id="workspaces">Workspaces</h2>
    ${
      rows.length === 0
        ? html`<p class="note">You are in no workspace. Someone with the right to invite sends you a link.</p>`
        : html`<ul class="rows">
            ${rows}
          </ul>`
    }
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

import { shownAppName } from '../../domain/shown-name.ts';
import type { ListedGrant } from '../../store/grants.ts';
import type { WorkspaceOfPerson } from '@wts/contracts';
import { html, type Html } from '../html.ts';
import type { Site } from '../layout.ts';
import { named } from '../parts.ts';
import { targetOf } from '../redirect-target.ts';
import { endLink, list, row } from './rows.ts';
import { day, endOf, nameOfWorkspace } from './words.ts';

interface AppsSection {
  readonly apps: readonly ListedGrant[];
  /** How many more there are. */
  readonly leftOut: number;
  readonly workspaces: readonly WorkspaceOfPerson[];
}

export function appsSection(site: Site, { apps, leftOut, workspaces }: AppsSection): Html {
  const rows = apps.map(
    ({ id, clientName, scopes, createdAt, usedAt, expiresAt, workspaceId, clientId, redirectUri }) => {
      const name = shownAppName(clientName);
      const may = scopes.includes('write') ? 'Can read and change' : 'Can read';
      const where = workspaceId === null ? null : html` in ${nameOfWorkspace(workspaces, workspaceId)}`;
      return row({
        name,
        about: html`${may}${where} · allowed ${day(createdAt)} · used ${day(usedAt)} · ${endOf(expiresAt)}`,
        more: html`<span class="quiet small more"
          >Answers go to ${targetText(redirectUri)} · client ${named(clientId)}</span
        >`,
        end: endLink(site, `/account/apps/${id}/revoke`, 'Revoke', `Revoke access of ${name}`),
      });
    },
  );
  return html`<section aria-labelledby="apps">
    <h2 id="apps">Connected apps</h2>
    <p class="quiet">Apps that you allowed to use your account. A revoked app loses access within a second.</p>
    ${list(rows, html`<p class="note">No app is connected.</p>`)}
    ${leftOut === 0 ? null : html`<p class="note">These are the newest; ${leftOut} older ${leftOut === 1 ? 'one is' : 'ones are'} not shown. Revoke some to see more.</p>`}
  </section>`;
}

/** Any program can take the name of another; where its answers go, and its id, it cannot choose. */
function targetText(redirectUri: string): Html {
  if (!URL.canParse(redirectUri)) return html`an unknown place`;
  const { kind, shown } = targetOf(redirectUri);
  return kind === 'site' ? html`<strong>${shown}</strong>` : html`a program on your device (${shown})`;
}

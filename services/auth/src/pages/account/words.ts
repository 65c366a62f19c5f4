import type { WorkspaceChoice } from '../../store/workspaces.ts';
import { html, type Html } from '../html.ts';
import { named } from '../parts.ts';

export function nameOfWorkspace(workspaces: readonly WorkspaceChoice[], workspaceId: string): Html {
  const name = workspaces.find(({ id }) => id === workspaceId)?.name;
  return name === undefined ? html`a workspace that you left` : named(name);
}

export function endOf(expiresAt: Date | null): Html {
  if (expiresAt === null) return html`does not expire`;
  return expiresAt <= new Date() ? html`expired ${day(expiresAt)}` : html`expires ${day(expiresAt)}`;
}

const DAY = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' });

export function day(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${DAY.format(at)}</time>`;
}

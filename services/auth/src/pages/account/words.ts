import type { WorkspaceOfPerson } from '@wts/contracts';
import { html, type Html } from '../html.ts';
import { named } from '../parts.ts';

export function nameOfWorkspace(workspaces: readonly WorkspaceOfPerson[], workspaceId: string): Html {
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

const TIME = new Intl.DateTimeFormat('en', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
  hourCycle: 'h23',
});

export function time(at: Date): Html {
  return html`<time datetime="${at.toISOString()}">${TIME.format(at)} UTC</time>`;
}

/** A network without the length of its prefix, which says nothing to people. */
export function placeOf(network: string | null): Html {
  return network === null ? html`an unknown network` : html`${network.replace(/\/\d+$/, '')}`;
}

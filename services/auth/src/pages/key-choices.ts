import type { KeyPermissions, WorkspaceOfPerson } from '@wts/contracts';
import { shownName } from '../domain/shown-name.ts';
import { html, type Html } from './html.ts';
import { choice } from './parts.ts';

/** The first is the choice of the form: a key that leaks should not be able to change anything. */
export const KEY_ACCESS: readonly KeyPermissions[] = ['read-only', 'full-access'];
export const ACCESS_TEXTS: Readonly<Record<KeyPermissions, string>> = {
  'read-only': 'Read only',
  'full-access': 'Full access',
};

/** By the value of the form. */
export const KEY_LIFETIMES: ReadonlyMap<string, { readonly text: string; readonly days: number | null }> = new Map([
  ['90', { text: 'In 90 days', days: 90 }],
  ['30', { text: 'In 30 days', days: 30 }],
  ['365', { text: 'In a year', days: 365 }],
  ['never', { text: 'Never', days: null }],
]);

/** What a new key may do, until when, and where. */
export function keyChoices(
  workspaces: readonly WorkspaceOfPerson[],
  accesses: readonly KeyPermissions[] = KEY_ACCESS,
): Html {
  return html`<div class="grid">
    ${choice({ label: 'Access', name: 'access', options: accesses.map((access) => [access, ACCESS_TEXTS[access]]) })}
    ${choice({ label: 'Expires', name: 'expires', options: [...KEY_LIFETIMES].map(([name, { text }]) => [name, text]) })}
    ${workspaceChoice(workspaces)}
  </div>`;
}

export function workspaceChoice(workspaces: readonly WorkspaceOfPerson[]): Html {
  const options = [
    ['', 'All workspaces'],
    ...workspaces.map(({ id, name }) => [id, shownName(name)] as const),
  ] as const;
  return choice({ label: 'Workspace', name: 'workspace', options });
}

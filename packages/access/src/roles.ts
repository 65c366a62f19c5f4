import type { Role } from '@wts/contracts';

/**
 * What each role may do in a workspace, on one screen. `own`: only with what is theirs, created by them or assigned to them.
 *
 * Names with a dot are asked for where something is done; the other ones are the words in which a model says who may change
 * its records (`WorkspacePermission` of `@wts/models`), judged with the commit. No other code compares roles.
 */
export const PERMISSIONS = {
  /** Invite people, see invitations and end them. */
  'invitations.manage': { owner: 'all', admin: 'all' },
  /** See and end API keys of others that are limited to the workspace. Keys that reach further end with the membership. */
  'keys.manage': { owner: 'all' },
  /** Make, unmake and remove owners. The last one always stays. */
  'owners.manage': { owner: 'all' },
  /** The workspace itself, members that are no owners, teams, who is in a private project, and comments of others. */
  manage: { owner: 'all', admin: 'all' },
  /** Projects and labels. */
  contribute: { owner: 'all', admin: 'all', member: 'all' },
  /** Tasks that are there, and their checklists. */
  own: { owner: 'all', admin: 'all', member: 'all', guest: 'own' },
  /** New tasks and comments. */
  anyone: { owner: 'all', admin: 'all', member: 'all', guest: 'all' },
} as const satisfies Record<string, Partial<Record<Role, 'all' | 'own'>>>;

export type WorkspacePermission = keyof typeof PERMISSIONS;

/**
 * Whether a role holds a permission. `isOwn` says that the person created, or is assigned to, the thing at hand; leave
 * it out where that has no meaning.
 * Keeps workspaces.roles.manage.
 */
export function can(role: Role, permission: WorkspacePermission, isOwn = false): boolean {
  const row: Partial<Record<Role, 'all' | 'own'>> = PERMISSIONS[permission];
  const reach = Object.hasOwn(row, role) ? row[role] : undefined;
  return reach === 'all' || (reach === 'own' && isOwn);
}

import type { Role } from '@wts/contracts';

/**
 * What each role may do in a workspace, on one screen. `own` reads: only on tasks the person created or is assigned.
 * Models name these permissions; no other code compares roles.
 */
export const PERMISSIONS = {
  /** See everything in the workspace that is not inside a private project. */
  'workspace.read': { owner: 'all', admin: 'all', member: 'all', guest: 'all' },
  'workspace.update': { owner: 'all', admin: 'all' },
  'workspace.delete': { owner: 'all' },
  /** Add, remove and change the role of members that are not owners. */
  'members.manage': { owner: 'all', admin: 'all' },
  /** Make, unmake and remove owners. The last one always stays. */
  'owners.manage': { owner: 'all' },
  'invitations.manage': { owner: 'all', admin: 'all' },
  /** See and end API keys of others that are limited to the workspace. Keys that reach further end with the membership. */
  'keys.manage': { owner: 'all' },
  'webhooks.manage': { owner: 'all', admin: 'all' },
  'teams.manage': { owner: 'all', admin: 'all' },
  /** Who is in a private project. */
  'projects.members.manage': { owner: 'all', admin: 'all' },
  'projects.write': { owner: 'all', admin: 'all', member: 'all' },
  'labels.write': { owner: 'all', admin: 'all', member: 'all' },
  'tasks.create': { owner: 'all', admin: 'all', member: 'all' },
  /** Change a task and its checklist. */
  'tasks.update': { owner: 'all', admin: 'all', member: 'all', guest: 'own' },
  'tasks.delete': { owner: 'all', admin: 'all', member: 'all', guest: 'own' },
  'comments.create': { owner: 'all', admin: 'all', member: 'all', guest: 'all' },
  /** Remove what somebody else wrote. Everybody changes their own comments. */
  'comments.moderate': { owner: 'all', admin: 'all' },
  /** Anyone may leave. */
  'workspace.leave': { owner: 'all', admin: 'all', member: 'all', guest: 'all' },
} as const satisfies Record<string, Partial<Record<Role, 'all' | 'own'>>>;

export type Permission = keyof typeof PERMISSIONS;

/**
 * Whether a role holds a permission. `isOwn` says that the person created, or is assigned to, the thing at hand; leave
 * it out where that has no meaning.
 * Keeps workspaces.roles.manage.
 */
export function can(role: Role, permission: Permission, isOwn = false): boolean {
  const row: Partial<Record<Role, 'all' | 'own'>> = PERMISSIONS[permission];
  const reach = Object.hasOwn(row, role) ? row[role] : undefined;
  return reach === 'all' || (reach === 'own' && isOwn);
}

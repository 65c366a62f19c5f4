import type { Role } from '@wts/contracts';

/**
 * The permissions of each role in a workspace. `own`: only for records that the person created or is assigned to.
 *
 * Commands check names with a dot; the other ones are the permissions of models (`ModelPermission` of `@wts/models`), which the
 * commit checks. What depends on being an owner, such as that a workspace keeps one, is a rule where it is decided.
 */
export const PERMISSIONS = {
  /** Invite people, see invitations and end them. */
  'invitations.manage': { owner: 'all', admin: 'all' },
  /** Webhook endpoints and their deliveries. */
  'webhooks.manage': { owner: 'all', admin: 'all' },
  /** See and revoke API keys of others that are limited to the workspace. Other keys lose access with the membership. */
  'keys.manage': { owner: 'all' },
  /** See how members sign in, what happened, and which apps reach the workspace. */
  'access.view': { owner: 'all', admin: 'all' },
  /** What the workspace requires of its members. */
  'security.manage': { owner: 'all' },
  /** Promote, demote and remove owners. The last one always stays. */
  'owners.manage': { owner: 'all' },
  /** The workspace itself, members that are no owners, teams, who is in a private project, and comments of others. */
  manage: { owner: 'all', admin: 'all' },
  /** Projects and labels. */
  contribute: { owner: 'all', admin: 'all', member: 'all' },
  /** Existing tasks, and their checklists. */
  own: { owner: 'all', admin: 'all', member: 'all', guest: 'own' },
  /** New tasks and comments. */
  anyone: { owner: 'all', admin: 'all', member: 'all', guest: 'all' },
} as const satisfies Record<string, Partial<Record<Role, 'all' | 'own'>>>;

export type WorkspacePermission = keyof typeof PERMISSIONS;

/**
 * Whether a role has a permission. `isOwn`: the person created the record or is assigned to it; left out where that does not apply.
 * Keeps workspaces.roles.manage.
 */
export function can(role: Role, permission: WorkspacePermission, isOwn = false): boolean {
  const row: Partial<Record<Role, 'all' | 'own'>> = PERMISSIONS[permission];
  const reach = Object.hasOwn(row, role) ? row[role] : undefined;
  return reach === 'all' || (reach === 'own' && isOwn);
}

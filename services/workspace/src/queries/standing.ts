import type { Permission } from '@wts/access';
import { can } from '@wts/access';
import type { Principal, Role } from '@wts/contracts';
import { Fault, ROLES } from '@wts/contracts';
import type { WorkspaceReads } from '../store/workspaces.ts';

/**
 * The role of the caller in a workspace. A workspace one is not in, one that does not exist and one that the credential
 * is not for are the same to the caller: not there.
 */
export async function standingIn(workspaces: WorkspaceReads, principal: Principal, workspaceId: string): Promise<Role> {
  const id = workspaceId.toLowerCase();
  const role = await workspaces.roleOf(principal.userId, id);
  if (role === null || (principal.workspaceId ?? id) !== id) throw new Fault('not_found');
  return role;
}

/** Throws `not_found` before `forbidden`: what a role may do is told to members only. Keeps workspaces.roles.manage. */
export async function requirePermission(
  workspaces: WorkspaceReads,
  principal: Principal,
  workspaceId: string,
  permission: Permission,
): Promise<void> {
  const role = await standingIn(workspaces, principal, workspaceId);
  if (can(role, permission)) return;
  const allowed = ROLES.filter((one) => can(one, permission)).join(' or ');
  throw new Fault('forbidden', { message: `This needs the role ${allowed} in the workspace; yours is ${role}.` });
}

/** Throws `forbidden` for a credential that is limited to one workspace, where something reaches beyond that one. */
export function requireUnrestricted(principal: Principal): void {
  if (principal.workspaceId === undefined) return;
  throw new Fault('forbidden', { message: 'This credential is restricted to one workspace; use one that is not.' });
}

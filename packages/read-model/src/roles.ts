import type { WorkspacePermission } from '@wts/access';
import { can } from '@wts/access';
import type { Principal, Role } from '@wts/contracts';
import { Fault, ROLES } from '@wts/contracts';
import type { Queryable } from '@wts/log';

/**
 * The committed roles of people in workspaces. A commit does not use it: it checks memberships under the log's lock
 * (`services/sync/src/commit/permissions.ts`), because a role read before may have ended since.
 */
export class Roles {
  readonly #database: Queryable;

  constructor(database: Queryable) {
    this.#database = database;
  }

  /** Null for a person who is not in the workspace. Relies on the unique index (workspace_id, user_id). */
  async of(userId: string, workspaceId: string): Promise<Role | null> {
    const { rows } = await this.#database.query<{ role: Role }>(
      'select role from sync.workspace_members where workspace_id = $1 and user_id = $2',
      [workspaceId, userId],
    );
    return rows[0]?.role ?? null;
  }

  /**
   * The role of the caller. `not_found` for a workspace that the caller is not in, one that does not exist and one that the
   * credential is not for: the caller cannot distinguish them.
   */
  async require(principal: Principal, workspaceId: string): Promise<Role> {
    const id = workspaceId.toLowerCase();
    const role = await this.of(principal.userId, id);
    if (role === null || (principal.workspaceId ?? id) !== id) throw new Fault('not_found');
    return role;
  }

  /** Throws `not_found` before `forbidden`: only members learn what a role may do. Keeps workspaces.roles.manage. */
  async requirePermission(principal: Principal, workspaceId: string, permission: WorkspacePermission): Promise<void> {
    const role = await this.require(principal, workspaceId);
    if (can(role, permission)) return;
    const allowed = ROLES.filter((one) => can(one, permission)).join(' or ');
    throw new Fault('forbidden', { message: `This needs the role ${allowed} in the workspace; yours is ${role}.` });
  }
}

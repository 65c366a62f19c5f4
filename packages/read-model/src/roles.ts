import { can, type WorkspacePermission } from '@wts/access';
import { Fault, ROLES, type Principal, type Role } from '@wts/contracts';
import type { Queryable } from '@wts/log';
import { isMoving } from './is-moving.ts';
import { membershipsSql } from './memberships.ts';

const OWN = membershipsSql('$1');

/** What a role allows in a workspace. */
export abstract class RoleRules {
  /** Null for a person who is not in the workspace. */
  abstract of(userId: string, workspaceId: string): Promise<Role | null>;

  /**
   * The role of the caller. `not_found` for a workspace that the caller is not in, one that does not exist and one that the
   * credential is not for: the caller cannot distinguish them.
   */
  async require(principal: Principal, workspaceId: string): Promise<Role> {
    const id = workspaceId.toLowerCase();
    const role = await this.of(principal.userId, id);
    if (role === null || !isForWorkspace(principal, id)) throw new Fault('not_found');
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

/**
 * The committed roles of people in workspaces. A commit does not use it: it checks memberships under the log's lock
 * (`services/sync/src/rules/visibility.ts`), because a role read before may have ended since.
 */
export class Roles extends RoleRules {
  readonly #database: Queryable;

  constructor(database: Queryable) {
    super();
    this.#database = database;
  }

  async of(userId: string, workspaceId: string): Promise<Role | null> {
    const { rows } = await this.#database.query<{ role: Role }>(
      `select role from (${OWN}) own where workspace_id = $2`,
      [userId, workspaceId],
    );
    return rows[0]?.role ?? null;
  }

  /** In how many workspaces the person has this role. */
  async count(userId: string, role: Role): Promise<number> {
    const sql = `select count(*)::int as found from (${OWN}) own where role = $2`;
    const { rows } = await this.#database.query<{ found: number }>(sql, [userId, role]);
    return rows[0]?.found ?? 0;
  }

  /** Throws `workspace_archived` for a workspace that its owner has deleted, and as `refuseMoving`. Keeps trash.workspace.read-only. */
  async refuseDeleted(workspaceId: string): Promise<void> {
    const sql = `select archived_at is not null as archived from sync.workspaces where id = $1
      and (archived_at is not null or ${isMoving('$1')})`;
    const { rows } = await this.#database.query<{ archived: boolean }>(sql, [workspaceId]);
    if (rows[0]?.archived) throw new Fault('workspace_archived');
    if (rows.length > 0) throw moving();
  }

  /** Throws `unavailable` for a workspace that moves to another cell: what belongs to it would stay behind. Keeps cells.move.one-writer. */
  async refuseMoving(workspaceId: string): Promise<void> {
    if ((await this.#database.query(`select where ${isMoving('$1')}`, [workspaceId])).rows.length > 0) throw moving();
  }
}

function moving(): Fault {
  return new Fault('unavailable', { message: 'The workspace is being moved; try again shortly' });
}

/** False for a credential that is limited to another workspace. */
export function isForWorkspace({ workspaceId }: Pick<Principal, 'workspaceId'>, id: string): boolean {
  return workspaceId === undefined || workspaceId === id;
}

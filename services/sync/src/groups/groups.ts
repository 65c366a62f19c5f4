import type { Pool } from 'pg';

/** The groups a person may see, and the place in the log at which this is exact. */
export interface PersonGroups {
  readonly groups: ReadonlySet<string>;
  readonly at: bigint;
}

export class Groups {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Own id, workspaces, private projects; head and memberships are read in one snapshot. */
  async of(userId: string): Promise<PersonGroups> {
    const { rows } = await this.#pool.query<{ at: string; groups: string[] }>(
      `select coalesce((select sync_id from sync.sync_actions order by sync_id desc limit 1), 0)::text as at,
         array(
           select workspace_id from sync.workspace_members where user_id = $1
           union all
           select project_id from sync.project_members where user_id = $1 and group_id = project_id
         )::text[] as groups`,
      [userId],
    );
    const row = rows[0];
    return { groups: new Set([userId, ...(row?.groups ?? [])]), at: BigInt(row?.at ?? '0') };
  }
}

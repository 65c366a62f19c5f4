import type { Queryable } from '../fairness/reads.ts';
import { lostGroupsSql } from './entries.ts';
import { CLIENT_FLOOR, HEAD } from './log.ts';

/** The groups a person may see, and the place in the log at which this is exact. */
export interface PersonGroups {
  readonly groups: ReadonlySet<string>;
  readonly at: bigint;
  /** Entries up to and including this place were trimmed. */
  readonly floor: bigint;
  readonly epoch: string;
}

export interface PersonGroupsRow {
  at: string;
  floor: string;
  epoch: string;
  /** Divided by spaces, because `pg` takes an array apart one character at a time. */
  groups: string;
}

/**
 * A person's groups beside their own, the head of the log and its state, of one snapshot. `userId` and `workspaceId` are
 * SQL: a parameter, or the literal of a checked id. With a workspace, only what lies in it. `also` is further columns.
 */
export function personGroupsSql(userId: string, workspaceId: string, also = ''): string {
  const inside = `(${workspaceId}::uuid is null or workspace_id = ${workspaceId}::uuid)`;
  return `select ${HEAD}::text as at, ${CLIENT_FLOOR}::text as floor, epoch::text,
    array_to_string(array(
      select workspace_id from sync.workspace_members where user_id = ${userId}::uuid and ${inside}
      union all
      select project_id from sync.project_members where user_id = ${userId}::uuid and group_id = project_id and ${inside}
    ), ' ') as groups${also}
    from sync.log_state`;
}

export function personGroupsOf(userId: string, row: PersonGroupsRow | undefined): PersonGroups {
  if (row === undefined) throw new Error('sync.log_state has no row: the migrations did not run to the end');
  const { at, floor, epoch } = row;
  const groups = row.groups === '' ? [] : row.groups.split(' ');
  return { groups: new Set([userId, ...groups]), at: BigInt(at), floor: BigInt(floor), epoch };
}

const NOW = personGroupsSql('$1', '$2');
const AFTER = personGroupsSql('$1', '$2', `, array(${lostGroupsSql('$1', '$3')}) as lost`);

export class Groups {
  readonly #pool: Queryable;

  constructor(pool: Queryable) {
    this.#pool = pool;
  }

  /** Own id, workspaces, private projects; for a credential that is limited to a workspace, what lies in that one. */
  async of(userId: string, workspaceId?: string): Promise<PersonGroups> {
    const { rows } = await this.#pool.query<PersonGroupsRow>({
      name: 'person_groups',
      text: NOW,
      values: [userId, workspaceId ?? null],
    });
    return personGroupsOf(userId, rows[0]);
  }

  /** The same, and the groups they had been in and were out of right after a place: what is needed to go on from there. */
  async after(
    place: bigint,
    userId: string,
    workspaceId?: string,
  ): Promise<PersonGroups & { lost: readonly string[] }> {
    const { rows } = await this.#pool.query<PersonGroupsRow & { lost: string[] }>({
      name: 'person_groups_after',
      text: AFTER,
      values: [userId, workspaceId ?? null, place.toString()],
    });
    return { ...personGroupsOf(userId, rows[0]), lost: rows[0]?.lost ?? [] };
  }
}

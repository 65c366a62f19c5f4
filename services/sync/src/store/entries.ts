import type { ActionName } from '@wts/contracts';
import type { Pool } from 'pg';
import type { EntrySource } from '../deltas/entry.ts';
import { CLIENT_FLOOR } from './log.ts';

export interface EntryPage {
  readonly entries: EntrySource[];
  /** Entries up to and including this place were trimmed, seen in the same snapshot as the page. */
  readonly floor: bigint;
}

interface EntryRow {
  sync_id: string | null;
  group_id: string;
  model: string;
  model_id: string;
  action: ActionName;
  data: string;
  client_id: string;
  client_tx_id: string;
  created_at: string;
  moved_group: string | null;
  floor: string;
}

/** The entries that open a group to a person or close it, and which group it is. */
export const IS_MOVE = `(model in ('WorkspaceMember', 'ProjectMember') and action in ('INSERT', 'DELETE'))`;
export const MOVED_GROUP = `coalesce(record->>'projectId', record->>'workspaceId')`;

/** INSERT shows the record; the log does not keep it twice. */
const COLUMNS = `sync_id::text, group_id, model, model_id, action, coalesce(data, record)::text as data, client_id, client_tx_id,
  to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as created_at,
  case when ${IS_MOVE} then ${MOVED_GROUP} end as moved_group`;

/** One group: a piece of index (group_id, sync_id). */
const OF_ONE_GROUP = `select page.*, ${CLIENT_FLOOR}::text as floor from sync.log_state state left join lateral (
  select ${COLUMNS} from sync.sync_actions
  where group_id = ($1::uuid[])[1] and sync_id > $2 and sync_id <= $4 order by sync_actions.sync_id limit $3
) page on true order by page.sync_id::bigint`;

/**
 * Several groups: the places alone are found first, from index (group_id, sync_id) without touching a row, and only the
 * page's own rows are read, by primary key.
 */
const OF_SEVERAL_GROUPS = `select page.*, ${CLIENT_FLOOR}::text as floor from sync.log_state state left join lateral (
  select ${COLUMNS} from sync.sync_actions where sync_id = any(array(
    select found.sync_id from unnest($1::uuid[]) as audience(group_id), lateral (
      select sync_id from sync.sync_actions
      where group_id = audience.group_id and sync_id > $2 and sync_id <= $4 order by sync_id limit $3
    ) found order by found.sync_id limit $3
  ))
) page on true order by page.sync_id::bigint`;

/**
 * The entries of some groups as clients read them: the JSON text in the log is passed on as it stands. `after` is
 * exclusive, `upTo` inclusive. The cost follows the page and the groups asked for, never the traffic of others.
 */
export async function readEntries(
  pool: Pool,
  groups: readonly string[],
  after: bigint,
  limit: number,
  upTo: bigint,
): Promise<EntryPage> {
  const text = groups.length === 1 ? OF_ONE_GROUP : OF_SEVERAL_GROUPS;
  const { rows } = await pool.query<EntryRow>(text, [groups, after.toString(), limit, upTo.toString()]);
  const [first] = rows;
  if (first === undefined) throw new Error('sync.log_state has no row: the migrations did not run to the end');
  return { entries: rows.flatMap(entryOf), floor: BigInt(first.floor) };
}

function entryOf(row: EntryRow): EntrySource[] {
  if (row.sync_id === null) return [];
  return [
    {
      syncId: row.sync_id,
      modelName: row.model,
      modelId: row.model_id,
      action: row.action,
      dataText: row.data,
      groupId: row.group_id,
      clientTxId: row.client_tx_id,
      clientId: row.client_id,
      createdAt: row.created_at,
      movedGroup: row.moved_group,
    },
  ];
}

/**
 * The groups a person had been in and was out of at this place. What came before the place does not change any more, so
 * this may be read at any time, and what was trimmed of it is kept (`store/retention.ts`). Rests on index (group_id, sync_id): the entries of one person are few.
 */
export async function readLostGroups(pool: Pool, userId: string, place: bigint): Promise<string[]> {
  const { rows } = await pool.query<{ moved: string }>(
    `select moved from (
       select distinct on (moved) moved, action from (
         select ${MOVED_GROUP} as moved, action, sync_id from sync.sync_actions
         where group_id = $1 and sync_id <= $2 and ${IS_MOVE}
         union all
         select group_id::text, 'DELETE', sync_id from sync.trimmed_losses where user_id = $1 and sync_id <= $2
       ) move order by moved, sync_id desc
     ) latest where action = 'DELETE'`,
    [userId, place.toString()],
  );
  return rows.map(({ moved }) => moved);
}

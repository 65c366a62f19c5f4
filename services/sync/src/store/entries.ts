import type { ActionName } from '@wts/contracts';
import type { EntrySource } from '../deltas/entry.ts';
import type { Queryable } from '../fairness/reads.ts';
import { isoTime } from './iso-time.ts';
import { CLIENT_FLOOR, HEAD } from './log.ts';

export interface EntryPage {
  readonly entries: EntrySource[];
  /** Nothing is left out between the page, when it is not full, and here: what was asked for, or the end of this log. */
  readonly upTo: bigint;
  /** Entries up to and including this place were trimmed. */
  readonly floor: bigint;
  readonly epoch: string;
}

interface EntryRow {
  sync_id: string;
  group_id: string;
  workspace_id: string | null;
  model: string;
  model_id: string;
  action: ActionName;
  data: string;
  client_id: string;
  client_tx_id: string;
  created_ms: string;
  moved_group: string | null;
  state: string | null;
}

/** An empty page has one row as well, of nothing but the state. */
type PageRow = EntryRow | (Pick<EntryRow, 'state'> & { sync_id: null });

/** The entries that open a group to a person or close it, and which group it is. */
export const IS_MOVE = `(model in ('WorkspaceMember', 'ProjectMember') and action in ('INSERT', 'DELETE'))`;
export const MOVED_GROUP = `coalesce(record->>'projectId', record->>'workspaceId')`;

/**
 * The places are found first, without touching a row (`migrations/0006-find-pages.ts`); then the page's own rows are read, by
 * primary key. All of it, and what it is judged by, is of one snapshot: `state` is that of the log, told by the first row,
 * which an empty page has too. INSERT shows the record: the log does not keep it twice.
 */
const READ = `select page.*, case when page.sync_id is not distinct from found.places[1] then (
    select concat_ws(' ', least($3::bigint, ${HEAD}), ${CLIENT_FLOOR}, epoch) from sync.log_state
  ) end as state
  from sync.find_page($1::uuid[], $2::bigint, $3::bigint, $4::int) as found(places) left join lateral (
    select sync_id, group_id, workspace_id, model, model_id, action, coalesce(data, record)::text as data, client_id, client_tx_id,
      (date_part('epoch', created_at) * 1000)::bigint as created_ms, case when ${IS_MOVE} then ${MOVED_GROUP} end as moved_group
    from sync.sync_actions where sync_id = any(found.places)
      and sync_id >= found.places[1] and sync_id <= found.places[cardinality(found.places)]
  ) page on true order by page.sync_id`;

/**
 * The entries of some groups as clients read them: the JSON text in the log is passed on as it stands. `after` is
 * exclusive, `upTo` inclusive. The cost follows the page and the number of groups, never the size of the log or the traffic
 * of others.
 *
 * Prepared once for each connection, because planning over all partitions takes longer than reading most pages.
 */
export async function readEntries(
  pool: Queryable,
  groups: readonly string[],
  after: bigint,
  limit: number,
  upTo: bigint,
): Promise<EntryPage> {
  const values = [groups, after.toString(), upTo.toString(), limit];
  const { rows } = await pool.query<PageRow>({ name: 'read_entries', text: READ, values });
  const [reached, floor, epoch] = rows[0]?.state?.split(' ') ?? [];
  if (!reached || !floor || !epoch) throw new Error('sync.log_state has no row: the migrations did not run to the end');
  const entries = rows.filter((row) => row.sync_id !== null).map(entryOf);
  return { entries, upTo: BigInt(reached), floor: BigInt(floor), epoch };
}

/** Whether there is any after this place. */
export async function hasEntries(pool: Queryable, groups: readonly string[], after: bigint): Promise<boolean> {
  const { rows } = await pool.query<{ has: boolean }>({
    name: 'has_entries',
    text: `select cardinality(sync.find_page($1::uuid[], $2::bigint, ${HEAD}, 1)) > 0 as has`,
    values: [groups, after.toString()],
  });
  return rows[0]?.has ?? false;
}

function entryOf(row: EntryRow): EntrySource {
  return {
    syncId: row.sync_id,
    modelName: row.model,
    modelId: row.model_id,
    action: row.action,
    dataText: row.data,
    groupId: row.group_id,
    workspaceId: row.workspace_id,
    clientTxId: row.client_tx_id,
    clientId: row.client_id,
    createdAt: isoTime(Number(row.created_ms)),
    movedGroup: row.moved_group,
  };
}

/**
 * The groups a person had been in and was out of right after a place. What came before the place does not change any more, so
 * this may be asked at any time, and what was trimmed of it is kept (`store/retention.ts`). Rests on index
 * sync_actions_moves_idx.
 */
export function lostGroupsSql(userId: string, place: string): string {
  return `select moved from (
    select distinct on (moved) moved, action from (
      select ${MOVED_GROUP} as moved, action, sync_id from sync.sync_actions
      where group_id = ${userId}::uuid and sync_id <= ${place}::bigint and ${IS_MOVE}
      union all
      select group_id::text, 'DELETE', sync_id from sync.trimmed_losses where user_id = ${userId}::uuid and sync_id <= ${place}::bigint
    ) move order by moved, sync_id desc
  ) latest where action = 'DELETE'`;
}

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
 * exclusive, `upTo` inclusive. The cost follows the page, never the size of the log or the traffic of others; and of the
 * number of groups and the number of places between `after` and `upTo` it follows the smaller one.
 *
 * Prepared once for each connection, because planning over all partitions takes longer than reading most pages.
 */
export async function readEntries(
  pool: Queryable,
  groups: ReadonlySet<string>,
  after: bigint,
  limit: number,
  upTo: bigint,
): Promise<EntryPage> {
  if (groups.size <= GROUPS_FEW) return readPage(pool, listOf(groups), after, limit, upTo);
  const entries: EntrySource[] = [];
  const unasked = BigInt(groups.size);
  let reached = after;
  for (let width = WINDOW_FIRST; ; width *= WINDOW_GROWS) {
    const missing = limit - entries.length;
    // As many places as groups were looked at: from here on it is less work to look for each group.
    if (reached - after + width > unasked && upTo > after + unasked) {
      const page = await readPage(pool, listOf(groups), reached, missing, upTo);
      return { ...page, entries: [...entries, ...page.entries] };
    }
    const edge = reached + width < upTo ? reached + width : upTo;
    const window = await groupsBetween(pool, reached, edge);
    const present = groups.intersection(window.groups);
    const page = present.size === 0 ? window : await readPage(pool, listOf(present), reached, missing, edge);
    entries.push(...page.entries);
    if (entries.length === limit || edge === upTo || page.upTo < edge) return { ...page, entries };
    reached = edge;
  }
}

/** So many groups are looked for one by one, whatever lies between. */
const GROUPS_FEW = 200;
const WINDOW_FIRST = 256n;
const WINDOW_GROWS = 4n;

/** A list of tens of thousands is written once, as long as it is of the same set. */
const lists = new WeakMap<ReadonlySet<string>, string>();

function listOf(groups: ReadonlySet<string>): string {
  if (groups.size <= GROUPS_FEW) return `{${[...groups].join(',')}}`;
  const known = lists.get(groups);
  if (known !== undefined) return known;
  const list = `{${[...groups].join(',')}}`;
  lists.set(groups, list);
  return list;
}

async function readPage(
  pool: Queryable,
  groups: string,
  after: bigint,
  limit: number,
  upTo: bigint,
): Promise<EntryPage> {
  const values = [groups, after.toString(), upTo.toString(), limit];
  const { rows } = await pool.query<PageRow>({ name: 'read_entries', text: READ, values });
  const entries = rows.filter((row) => row.sync_id !== null).map(entryOf);
  return { entries, ...stateOf(rows[0]) };
}

/** The groups that have entries in (after, upTo]. */
async function groupsBetween(
  pool: Queryable,
  after: bigint,
  upTo: bigint,
): Promise<EntryPage & { groups: ReadonlySet<string> }> {
  const { rows } = await pool.query<{ state: string; groups: string }>({
    name: 'groups_between',
    text: `select concat_ws(' ', least($2::bigint, ${HEAD}), ${CLIENT_FLOOR}, epoch) as state,
      array_to_string(sync.groups_between($1::bigint, $2::bigint), ' ') as groups from sync.log_state`,
    values: [after.toString(), upTo.toString()],
  });
  return { groups: new Set(rows[0]?.groups.split(' ')), entries: [], ...stateOf(rows[0]) };
}

function stateOf(row: { readonly state: string | null } | undefined): Pick<EntryPage, 'upTo' | 'floor' | 'epoch'> {
  const [reached, floor, epoch] = row?.state?.split(' ') ?? [];
  if (!reached || !floor || !epoch) throw new Error('sync.log_state has no row: the migrations did not run to the end');
  return { upTo: BigInt(reached), floor: BigInt(floor), epoch };
}

/** Whether there is any after this place. */
export async function hasEntries(pool: Queryable, groups: readonly string[], after: bigint): Promise<boolean> {
  const { rows } = await pool.query<{ head: string }>(`select ${HEAD}::text as head from sync.log_state`);
  const head = BigInt(rows[0]?.head ?? 0);
  return head > after && (await readEntries(pool, new Set(groups), after, 1, head)).entries.length > 0;
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

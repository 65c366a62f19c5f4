import type { StoredEntry } from '@wts/contracts';
import { Entry } from './entry.ts';
import { isoTime } from './iso-time.ts';
import { LogReader } from './log-reader.ts';
import { stateRow, type Queryable } from './queryable.ts';
import { CLIENT_FLOOR, HEAD, IS_MOVE, MOVED_GROUP } from './sql.ts';

/** The first entries of some groups in (after, upTo]. */
export interface EntryRange {
  readonly groups: ReadonlySet<string>;
  readonly after: bigint;
  readonly limit: number;
  readonly upTo: bigint;
}

export interface EntryPage {
  readonly entries: Entry[];
  /** Nothing is left out between the page, when it is not full, and here: what was asked for, or the end of this log. */
  readonly upTo: bigint;
  /** Entries up to and including this place were trimmed. */
  readonly floor: bigint;
  readonly epoch: string;
}

/** A stored entry as `Entry` is made of it; an empty page has one row as well, of nothing but the state. */
interface PageRow extends Pick<
  StoredEntry,
  'modelName' | 'modelId' | 'action' | 'groupId' | 'clientTxId' | 'clientId'
> {
  readonly syncId: string | null;
  readonly workspaceId: string | null;
  readonly movedGroup: string | null;
  readonly data: string;
  readonly createdMs: string;
  readonly state: string | null;
}

/**
 * The places are found first, without touching a row (`sync.find_page`); then the page's own rows are read, by
 * primary key. All of it, and what it is judged by, is of one snapshot: `state` is that of the log, told by the first row,
 * which an empty page has too. INSERT shows the record: the log does not keep it twice.
 */
const READ = `select page.*, case when page."syncId" is not distinct from found.places[1] then (
    select concat_ws(' ', least($3::bigint, ${HEAD}), ${CLIENT_FLOOR}, epoch) from sync.log_state
  ) end as state
  from sync.find_page($1::uuid[], $2::bigint, $3::bigint, $4::int) as found(places) left join lateral (
    select sync_id as "syncId", group_id as "groupId", workspace_id as "workspaceId", model as "modelName", model_id as "modelId",
      action, coalesce(data, record)::text as data, client_id as "clientId", client_tx_id as "clientTxId",
      (date_part('epoch', created_at) * 1000)::bigint as "createdMs", case when ${IS_MOVE} then ${MOVED_GROUP} end as "movedGroup"
    from sync.sync_actions where sync_id = any(found.places)
      and sync_id >= found.places[1] and sync_id <= found.places[cardinality(found.places)]
  ) page on true order by page."syncId"`;

/**
 * The entries of some groups as clients read them: the JSON text in the log is passed on as it stands. `after` is
 * exclusive, `upTo` inclusive. The cost follows the page, never the size of the log or the traffic of others; and of the
 * number of groups and the number of places between `after` and `upTo` it follows the smaller one.
 *
 * Prepared once for each connection, because planning over all partitions takes longer than reading most pages.
 */
export async function readEntries(pool: Queryable, range: EntryRange): Promise<EntryPage> {
  const { groups, after, limit, upTo } = range;
  if (groups.size <= GROUPS_FEW) return readPage(pool, range);
  const entries: Entry[] = [];
  const unasked = BigInt(groups.size);
  let reached = after;
  for (let width = WINDOW_FIRST; ; width *= WINDOW_GROWS) {
    const missing = limit - entries.length;
    // As many places as groups were looked at: from here on it is less work to look for each group.
    if (reached - after + width > unasked && upTo > after + unasked) {
      const page = await readPage(pool, { groups, after: reached, limit: missing, upTo });
      return { ...page, entries: [...entries, ...page.entries] };
    }
    const edge = reached + width < upTo ? reached + width : upTo;
    const window = await groupsBetween(pool, reached, edge);
    const present = groups.intersection(window.groups);
    const page =
      present.size === 0
        ? window
        : await readPage(pool, { groups: present, after: reached, limit: missing, upTo: edge });
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

async function readPage(pool: Queryable, { groups, after, limit, upTo }: EntryRange): Promise<EntryPage> {
  const values = [listOf(groups), after.toString(), upTo.toString(), limit];
  const { rows } = await pool.query<PageRow>({ name: 'read_entries', text: READ, values });
  const entries = rows
    .filter(isEntry)
    .map((row) => new Entry(row, row.movedGroup, row.data, isoTime(Number(row.createdMs))));
  return { entries, ...stateOf(rows) };
}

function isEntry(row: PageRow): row is PageRow & { readonly syncId: string } {
  return row.syncId !== null;
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
  return { groups: new Set(rows[0]?.groups.split(' ')), entries: [], ...stateOf(rows) };
}

function stateOf(rows: readonly { readonly state: string | null }[]): Pick<EntryPage, 'upTo' | 'floor' | 'epoch'> {
  const [reached = '', floor = '', epoch = ''] = stateRow(rows).state?.split(' ') ?? [];
  return { upTo: BigInt(reached), floor: BigInt(floor), epoch };
}

/** Whether there is any after this place. */
export async function hasEntries(pool: Queryable, groups: readonly string[], after: bigint): Promise<boolean> {
  const { head } = await new LogReader(pool).head();
  return (
    head > after &&
    (await readEntries(pool, { groups: new Set(groups), after, limit: 1, upTo: head })).entries.length > 0
  );
}

import type { StoredEntry } from '@wts/contracts';
import { Entry } from './entry.ts';
import { isoTime } from './iso-time.ts';
import { LogReader } from './log-reader.ts';
import { stateRow, type Queryable } from './queryable.ts';
import { CLIENT_FLOOR, HEAD, IS_GAIN_OR_LOSS, GAINED_OR_LOST } from './sql.ts';

/** The first entries of some groups in (after, upTo]. */
export interface EntryRange {
  readonly groups: ReadonlySet<string>;
  readonly after: bigint;
  readonly limit: number;
  readonly upTo: bigint;
}

export interface EntryPage {
  readonly entries: Entry[];
  /** A page that is not full has all entries up to this position: the requested one, or the head of this database. */
  readonly upTo: bigint;
  /** Entries up to and including this position were trimmed. */
  readonly floor: bigint;
  readonly epoch: string;
}

/** The columns an `Entry` is made of. An empty page has one row, with the state alone. */
interface PageRow extends Pick<
  StoredEntry,
  'modelName' | 'modelId' | 'action' | 'groupId' | 'clientTxId' | 'clientId'
> {
  readonly syncId: string | null;
  readonly workspaceId: string | null;
  readonly gainedOrLost: string | null;
  readonly data: string;
  readonly createdMs: string;
  readonly state: string | null;
}

/**
 * `sync.find_page` finds the positions in an index; then the rows of the page are read by primary key. The entries and the
 * state of the log are of one snapshot: the first row has the state, also of an empty page. `data` is null where it equals the
 * record, as of every INSERT.
 */
function readSql(upTo: string, state: string): string {
  return `select page.*, case when page."syncId" is not distinct from found.places[1] then (
    select concat_ws(' ', ${state}) from sync.log_state
  ) end as state
  from sync.find_page($1::uuid[], $2::bigint, ${upTo}, $3::int) as found(places) left join lateral (
    select sync_id as "syncId", group_id as "groupId", workspace_id as "workspaceId", model as "modelName", model_id as "modelId",
      action, coalesce(data, record)::text as data, client_id as "clientId", client_tx_id as "clientTxId",
      (date_part('epoch', created_at) * 1000)::bigint as "createdMs", case when ${IS_GAIN_OR_LOSS} then ${GAINED_OR_LOST} end as "gainedOrLost"
    from sync.sync_actions where sync_id = any(found.places)
      and sync_id >= found.places[1] and sync_id <= found.places[cardinality(found.places)]
  ) page on true order by page."syncId"`;
}

const READ = readSql('$4::bigint', `least($4::bigint, ${HEAD}), ${CLIENT_FLOOR}, epoch`);

/** The same up to the head, and whether a person gained or lost a group after a position. Relies on index sync_actions_moves_idx. */
const READ_AT_HEAD = readSql(
  `(select ${HEAD})`,
  `${HEAD}, ${CLIENT_FLOOR}, epoch, exists(
      select from sync.sync_actions where group_id = $4::uuid and ${IS_GAIN_OR_LOSS} and sync_id > $5::bigint
    )`,
);

/**
 * The entries of some groups as clients read them, with the JSON text of the log unchanged. `after` is exclusive, `upTo`
 * inclusive. The cost depends on the size of the page and on the number of groups or the number of entries between `after`
 * and `upTo`, whichever is smaller; it does not depend on the size of the log or on the entries of other groups.
 *
 * Prepared once for each connection, because planning over all partitions takes longer than reading most pages.
 */
export async function readEntries(pool: Queryable, range: EntryRange): Promise<EntryPage> {
  const { groups, after, limit, upTo } = range;
  if (areFew(groups)) return readPage(pool, range);
  const entries: Entry[] = [];
  let reached = after;
  let seen = 0;
  for (let width = WINDOW_FIRST; ; width *= WINDOW_GROWS) {
    const missing = limit - entries.length;
    const size = Math.min(width, groups.size - seen);
    // As many entries as groups are read: from here on, looking for each group is less work.
    if (size === 0) {
      const page = await readPage(pool, { groups, after: reached, limit: missing, upTo });
      return { ...page, entries: [...entries, ...page.entries] };
    }
    const window = await groupsOfNext(pool, { after: reached, upTo, size });
    const edge = window.upTo;
    const present = groups.intersection(window.groups);
    const page =
      present.size === 0
        ? window
        : await readPage(pool, { groups: present, after: reached, limit: missing, upTo: edge });
    entries.push(...page.entries);
    if (entries.length === limit || window.isLast || page.upTo < edge) return { ...page, entries };
    reached = edge;
    seen += size;
  }
}

/**
 * The first entries up to the head, and whether this person gained or lost a group after a position, of one snapshot. Null for
 * more groups than are looked for one by one.
 */
export async function readEntriesAtHead(
  pool: Queryable,
  { groups, after, limit }: Omit<EntryRange, 'upTo'>,
  { userId, since }: { readonly userId: string; readonly since: bigint },
): Promise<(EntryPage & { readonly hasMoved: boolean }) | null> {
  if (!areFew(groups)) return null;
  const values = [groupList(groups), after.toString(), limit, userId, since.toString()];
  const { rows } = await pool.query<PageRow>({ name: 'read_entries_at_head', text: READ_AT_HEAD, values });
  return { ...pageOf(rows), hasMoved: rows[0]?.state?.endsWith(' t') ?? false };
}

/** Up to so many groups are looked for one by one. */
const GROUPS_FEW = 200;

function areFew(groups: ReadonlySet<string>): boolean {
  return groups.size <= GROUPS_FEW;
}

const WINDOW_FIRST = 256;
const WINDOW_GROWS = 4;

/** The list of tens of thousands of groups is written once for each set. */
const lists = new WeakMap<ReadonlySet<string>, string>();

/** The text of an array of uuid: `pg` writes an array one element at a time. */
export function groupList(groups: ReadonlySet<string>): string {
  if (areFew(groups)) return `{${[...groups].join(',')}}`;
  const cached = lists.get(groups);
  if (cached !== undefined) return cached;
  const list = `{${[...groups].join(',')}}`;
  lists.set(groups, list);
  return list;
}

async function readPage(pool: Queryable, { groups, after, limit, upTo }: EntryRange): Promise<EntryPage> {
  const values = [groupList(groups), after.toString(), limit, upTo.toString()];
  return pageOf((await pool.query<PageRow>({ name: 'read_entries', text: READ, values })).rows);
}

function pageOf(rows: readonly PageRow[]): EntryPage {
  const entries = rows
    .filter(isEntry)
    .map((row) => new Entry(row, row.gainedOrLost, row.data, isoTime(Number(row.createdMs))));
  return { entries, ...stateOf(rows) };
}

function isEntry(row: PageRow): row is PageRow & { readonly syncId: string } {
  return row.syncId !== null;
}

interface Window extends EntryPage {
  readonly groups: ReadonlySet<string>;
  /** There is no entry between this window and where it was to end. */
  readonly isLast: boolean;
}

/** The groups of the next entries in (after, upTo], and the position up to which that is all of them. */
async function groupsOfNext(
  pool: Queryable,
  { after, upTo, size }: { readonly after: bigint; readonly upTo: bigint; readonly size: number },
): Promise<Window> {
  const { rows } = await pool.query<{ state: string; groups: string; last: boolean }>({
    name: 'groups_of_next',
    text: `select concat_ws(' ', least(reached, ${HEAD}), ${CLIENT_FLOOR}, epoch) as state, reached = $2::bigint as last,
      array_to_string(groups, ' ') as groups from sync.log_state, sync.groups_of_next($1::bigint, $2::bigint, $3::bigint)`,
    values: [after.toString(), upTo.toString(), size],
  });
  const [row] = rows;
  return { groups: new Set(row?.groups?.split(' ')), isLast: row?.last ?? true, entries: [], ...stateOf(rows) };
}

function stateOf(rows: readonly { readonly state: string | null }[]): Pick<EntryPage, 'upTo' | 'floor' | 'epoch'> {
  const [reached = '', floor = '', epoch = ''] = stateRow(rows).state?.split(' ') ?? [];
  return { upTo: BigInt(reached), floor: BigInt(floor), epoch };
}

/** Whether these groups have an entry after this position. */
export async function hasEntries(pool: Queryable, groups: readonly string[], after: bigint): Promise<boolean> {
  const { head } = await new LogReader(pool).head();
  return (
    head > after &&
    (await readEntries(pool, { groups: new Set(groups), after, limit: 1, upTo: head })).entries.length > 0
  );
}

import { syncApi, type CopiedKey, type CopiedRecord, type CopyDigest } from '@wts/contracts';
import { isoTimeSql, type Queryable } from '@wts/log';
import { isNumerous, layoutOf, modelNamed, Task, User } from '@wts/models';

/*
 * A workspace as another cell needs it: its records by pages, what changed since, and its idempotency keys. `$1` is the workspace.
 */

/** What is copied under one name: a query of `id`, `group_id` and `record`, and the columns that order it. */
interface CopySource {
  readonly sql: string;
  /** With their types. An index begins with the workspace or its groups, and goes on with them. */
  readonly order: readonly (readonly [column: string, type: string])[];
}

const BY_ID: CopySource['order'] = [['id', 'uuid']];
/** Of other models than tasks and what belongs to them there are thousands: they are read by their group, and sorted. */
const GROUPS = `array(select $1::uuid union select id from sync.projects where workspace_id = $1::uuid and group_id = id)`;

const OTHER_SOURCES: Readonly<Record<string, CopySource>> = {
  // All whom the workspace knows, as they are.
  User: {
    sql: `select id, group_id, record from sync.users where id in (select user_id from sync.user_audiences where group_id = $1::uuid
      union select user_id from sync.frozen_people where group_id = $1::uuid)`,
    order: BY_ID,
  },
  FrozenPerson: {
    sql: 'select user_id as id, group_id, record from sync.frozen_people where group_id = $1::uuid',
    order: BY_ID,
  },
  TaskCounter: {
    sql: `select workspace_id as id, workspace_id as group_id, json_build_object('lastNumber', last_number) as record
      from sync.task_counters where workspace_id = $1::uuid`,
    order: BY_ID,
  },
  MembershipLoss: {
    sql: `select user_id as id, workspace_id as group_id, json_build_object('userId', user_id, 'ended', ended,
      'takenAt', (taken_at at time zone 'UTC')::text) as record from sync.membership_losses where workspace_id = $1::uuid`,
    order: BY_ID,
  },
};

const NAMES: readonly string[] = [
  User.name,
  ...syncApi.COPIED_MODELS,
  ...syncApi.COPIED_LAST,
  ...syncApi.COPIED_MEMBERSHIPS,
];

/** Null for a name under which nothing is copied. */
function sourceOf(name: string): CopySource | null {
  if (!NAMES.includes(name)) return null;
  const other = OTHER_SOURCES[name];
  if (other !== undefined) return other;
  const model = modelNamed(name);
  const { table } = layoutOf(model);
  if (model === Task)
    return {
      sql: `select id, group_id, record, number from ${table} where workspace_id = $1::uuid`,
      order: [['number', 'int']],
    };
  if (isNumerous(model))
    return {
      sql: `select id, group_id, record, created_at from ${table} where workspace_id = $1::uuid`,
      order: [['created_at', 'timestamptz'], ...BY_ID],
    };
  return {
    sql: `select id, group_id, record from ${table} where workspace_id = $1::uuid and group_id = any(${GROUPS}) offset 0`,
    order: BY_ID,
  };
}

const columnsOf = ({ order }: CopySource): string => order.map(([column]) => column).join(', ');

/** `cursor` of a row: where the next page begins. */
function pageSql(source: CopySource, after: Cursor): string {
  const { sql, order } = source;
  const places = order.map(([, type], index) => `$${index + 3}::${type}`).join(', ');
  const rest = after === null ? '' : `where (${columnsOf(source)}) > (${places})`;
  return `select *, array[${order.map(([column]) => `${column}::text`).join(', ')}] as cursor
    from (${sql}) source ${rest} order by ${columnsOf(source)} limit $2`;
}

type Cursor = readonly string[] | null;

/** Text of a page: less than a body may have, with its keys. */
const PAGE_BYTES_MAX = 1024 * 1024;
/** Of rows in this order, the first that have no more text than a page, one at least; `found` is how many there are. */
const fitting = (rows: string, order: string): string =>
  `select * from (select *, count(*) over () as found,
      sum(octet_length(record::text)) over (order by ${order}) - octet_length(record::text) as bytes_before
    from (${rows}) page) sized where bytes_before < ${PAGE_BYTES_MAX} order by ${order}`;

interface PageRow {
  readonly id: string;
  readonly group_id: string;
  readonly record: CopiedRecord['record'];
  readonly cursor: readonly string[];
  readonly found: string;
}

export interface CopyPage {
  readonly records: readonly CopiedRecord[];
  readonly next: Cursor;
}

/** Null for a name under which nothing is copied. */
export async function readCopyPage(
  database: Queryable,
  workspaceId: string,
  { model, after, limit }: { readonly model: string; readonly after: Cursor; readonly limit: number },
): Promise<CopyPage | null> {
  const source = sourceOf(model);
  if (source === null) return null;
  const { rows } = await database.query<PageRow>(fitting(pageSql(source, after), columnsOf(source)), [
    workspaceId,
    limit,
    ...(after ?? []),
  ]);
  const records = rows.map(({ id, group_id: groupId, record }) => ({ model, id, groupId, record }));
  const isLast = rows.length < limit && rows.length === Number(rows[0]?.found ?? 0);
  return { records, next: isLast ? null : (rows.at(-1)?.cursor ?? null) };
}

/** Records whose digests one statement adds up: a fraction of a second. */
const DIGEST_ROWS = 20_000;

/** The sum of 60 bits of each record: it does not depend on the order of records, nor on that of their fields. */
const digestSql = (source: CopySource, after: Cursor): string => `with page as materialized (${pageSql(source, after)})
  select count(*)::int as count,
    coalesce(sum(('x' || left(md5(concat_ws(' ', id, group_id, record::jsonb)), 15))::bit(60)::bigint), 0)::text as sum,
    (select cursor from page order by ${source.order.map(([column]) => `${column} desc`).join(', ')} limit 1) as last from page`;

interface DigestPart {
  readonly count: number;
  readonly sum: string;
  readonly last: Cursor;
}

/** Without the people themselves and what is seen of former ones: a cell may have known people before. */
export async function digestCopy(
  database: Queryable,
  workspaceId: string,
  models: readonly string[],
): Promise<CopyDigest[]> {
  const digests: CopyDigest[] = [];
  for (const model of models) {
    const source = sourceOf(model);
    if (source === null || model === User.name || model === 'FrozenPerson') continue;
    let [count, sum] = [0, 0n];
    let after: Cursor = null;
    let part: DigestPart | undefined;
    do {
      const values: unknown[] = [workspaceId, DIGEST_ROWS, ...(after ?? [])];
      [part] = (await database.query<DigestPart>(digestSql(source, after), values)).rows;
      count += part?.count ?? 0;
      sum += BigInt(part?.sum ?? 0);
      after = part?.last ?? null;
    } while (part?.count === DIGEST_ROWS);
    digests.push({ model, count, digest: sum.toString(16) });
  }
  return digests;
}

interface Range {
  readonly workspaceId: string | null;
  readonly after: bigint;
  readonly through: bigint;
  readonly limit: number;
}

/** Entries that one call looks through: some 10 ms, and the index has no workspace. */
const LOOKED_THROUGH = syncApi.MOVE_ENTRIES_READ_MAX;

/** Where a look at the next entries ends, and whether that is the end of the range. */
async function endOfLook(database: Queryable, { after, through }: Range): Promise<{ at: bigint; isLast: boolean }> {
  const { rows } = await database.query<{ at: string | null; count: number }>(
    `select max(sync_id)::text as at, count(*)::int as count from (
      select sync_id from sync.sync_actions where sync_id > $1::bigint and sync_id <= $2::bigint order by sync_id limit $3) look`,
    [after.toString(), through.toString(), LOOKED_THROUGH],
  );
  const isLast = (rows[0]?.count ?? 0) < LOOKED_THROUGH;
  return { at: isLast ? through : BigInt(rows[0]?.at ?? through), isLast };
}

/** Entries of a workspace; of people: their own, without those of a put. */
const ENTRIES = (columns: string): string => `select sync_id, ${columns} from sync.sync_actions
  where sync_id > $1::bigint and sync_id <= $2::bigint and case when $3::uuid is null
    then model = 'User' and group_id = model_id and client_id <> '${syncApi.COPY_CLIENT_ID}' else workspace_id = $3::uuid end
  order by sync_actions.sync_id limit $4`;

interface EntryRow {
  readonly at: string;
  readonly model: string;
  readonly id: string;
  readonly group_id: string;
  readonly record: CopiedRecord['record'];
  readonly is_gone: boolean;
  readonly found: string;
}

export interface CopyChanges {
  /** The last state of each record that changed. */
  readonly records: readonly CopiedRecord[];
  readonly reached: bigint;
  readonly more: boolean;
}

export async function readCopyChanges(database: Queryable, range: Range): Promise<CopyChanges> {
  const { workspaceId, after, limit } = range;
  const { at: end, isLast } = await endOfLook(database, range);
  const entries = ENTRIES('model, model_id as id, group_id, record, action');
  const { rows } = await database.query<EntryRow>(
    `select sync_id::text as at, model, id, group_id, record, action = 'DELETE' as is_gone, found
      from (${fitting(entries, 'sync_id')}) page order by page.sync_id`,
    [after.toString(), end.toString(), workspaceId, limit],
  );
  const isCut = rows.length === limit || rows.length < Number(rows[0]?.found ?? 0);
  const last = rows.at(-1);
  const folded = new Map<string, CopiedRecord>();
  for (const { model, id, group_id: groupId, record, is_gone: isGone } of rows) {
    if (workspaceId !== null && !FOLLOWED.includes(model)) continue;
    folded.set(`${model} ${id}`, { model, id, groupId, record: isGone ? null : record });
  }
  return {
    records: [...folded.values()],
    reached: isCut && last !== undefined ? BigInt(last.at) : end,
    more: isCut || !isLast,
  };
}

const FOLLOWED: readonly string[] = syncApi.COPIED_MODELS;

/** Those of the entries of a workspace. A transaction that changed nothing has no entry: sent again, it is decided again. */
const KEYS = `select k.user_id as "userId", k.client_id as "clientId", k.client_tx_id as "clientTxId",
    ${isoTimeSql('k.created_at', 'US')} as "createdAt",
    array(select coalesce((select model || ' ' || model_id from sync.sync_actions where sync_id = main), '')
      from unnest(k.main_ids) with ordinality as m(main, n) order by n) as mains
  from (select distinct actor_id, client_id, client_tx_id from (${ENTRIES('actor_id, client_id, client_tx_id')}) entry) sent
    cross join lateral (select * from sync.idempotency_keys where user_id = sent.actor_id and client_id = sent.client_id
      and client_tx_id = sent.client_tx_id and cardinality(main_ids) > 0 limit 1) k`;

/** Of entries that `readCopyChanges` has reached. */
export async function readKeys(
  database: Queryable,
  { workspaceId, after, through, limit }: Range,
): Promise<CopiedKey[]> {
  return (await database.query<CopiedKey>(KEYS, [after.toString(), through.toString(), workspaceId, limit])).rows;
}

export interface CopyKeys {
  readonly keys: readonly CopiedKey[];
  readonly usedGroups: readonly string[];
  readonly reached: bigint;
  readonly more: boolean;
}

export async function readCopyKeys(database: Queryable, range: Range): Promise<CopyKeys> {
  const { at: end, isLast } = await endOfLook(database, range);
  const { rows } = await database.query<{ at: string; count: number; groups: string[] | null }>(
    `select max(sync_id)::text as at, count(*)::int as count,
      array_agg(distinct model_id::text) filter (where model = 'Project') as groups from (${ENTRIES('model, model_id')}) page`,
    [range.after.toString(), end.toString(), range.workspaceId, range.limit],
  );
  const [page] = rows;
  const isCut = page?.count === range.limit;
  const reached = isCut ? BigInt(page.at) : end;
  const keys = await readKeys(database, { ...range, through: reached });
  return { keys, usedGroups: page?.groups ?? [], reached, more: isCut || !isLast };
}

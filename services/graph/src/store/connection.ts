import { isNumerous, layoutOf, snakeCase, type Inverse, type Model, type Relation } from '@wts/models';
import { visibleToGroupSql } from '@wts/read-model';
import { invalid } from '../domain/errors.ts';
import { pageSizeOf } from '../domain/page-size.ts';
import { cursorValuesOf } from './cursor.ts';
import { GRAPH_LIMITS } from '../limits.ts';
import { conjunctsOf, filterSql, hasValue, type Filter } from './filter.ts';
import { beyondSql, isByCreation, isIndexed, orderOf, orderSql, type CursorValues, type OrderKey } from './order.ts';
import { notHiddenSql, recordSql, type Wants } from './record.ts';
import { comparedSql, firstMatchesSql, foundSql, searchedSql, wordsOf, type Matches, type Search } from './search.ts';
import type { Words } from './search-queries.ts';
import type { Statement, StatementWriter } from './statement.ts';
import { TOO_MANY_TO_SORT } from './statements.ts';

/** The arguments of a connection, as the schema admits them. */
export interface ConnectionArguments {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly last?: number | null;
  readonly before?: string | null;
  readonly filter?: Filter | null;
  readonly orderBy?: readonly Readonly<Record<string, unknown>>[] | null;
  readonly search?: string | null;
  readonly includeArchived?: boolean | null;
}

/** A connection as it is read: its arguments checked, with their defaults. */
export interface Connection {
  readonly model: Model;
  readonly keys: readonly OrderKey[];
  readonly limit: number;
  /** True: `limit` records from the end. */
  readonly isBackward: boolean;
  readonly after: CursorValues | null;
  readonly before: CursorValues | null;
  readonly filter: Filter;
  readonly words: Words | null;
  readonly includeArchived: boolean;
  readonly wants: Wants;
}

export function connectionOf(model: Model, given: ConnectionArguments, wants: Wants): Connection {
  const { first, last, after, before, filter, orderBy, search, includeArchived } = given;
  if (typeof first === 'number' && typeof last === 'number') throw invalid('Give either first or last, not both');
  const isBackward = typeof last === 'number';
  const limit = pageSizeOf(first ?? last, isBackward ? 'last' : 'first');
  const keys = orderOf(model, orderBy ?? null).map((key) =>
    key.nullable && hasValue(filter ?? {}, key.field) ? { ...key, nullable: false } : key,
  );
  return {
    model,
    keys,
    limit,
    isBackward,
    after: typeof after === 'string' ? cursorValuesOf(model, keys, after) : null,
    before: typeof before === 'string' ? cursorValuesOf(model, keys, before) : null,
    filter: filter ?? {},
    words: typeof search === 'string' ? wordsOf(search) : null,
    includeArchived: includeArchived ?? false,
    wants,
  };
}

/** The records of a page in their order, and whether there are more in the direction of reading. */
export interface Page {
  readonly records: readonly Found[];
  readonly hasMore: boolean;
}

/** A record as a statement returns it. */
export type Found = Readonly<Record<string, unknown>> & { readonly id: string };

/** One record more than the page was read, to detect that there are more. */
export function pageOf({ limit, isBackward }: Connection, rows: readonly Found[]): Page {
  const records = rows.slice(0, limit);
  return { records: isBackward ? records.toReversed() : records, hasMore: rows.length > limit };
}

/** The records of the page of a connection at the root: `[record]`. */
export function pageStatement(connection: Connection, sql: StatementWriter): Statement {
  return sql.finish(pageSql(connection, sql, null));
}

/** Those of each parent, in the order of the parents: `[[record]]`. */
export function pagesStatement(connection: Connection, parents: Parents, sql: StatementWriter): Statement {
  const from = parentsSql(parents, sql);
  const page = pageSql(connection, sql, scopeSql(parents));
  return sql.finish(
    `select coalesce(json_agg(page.found order by parent.place), '[]') as found from ${from}, lateral (${page}) page`,
  );
}

function pageSql(connection: Connection, sql: StatementWriter, scope: string | null): string {
  const columns: RowColumn[] = [['record', recordSql(connection.model, 't', connection.wants)]];
  const rows = rowsSql(connection, sql, { columns, scope });
  return `select coalesce(json_agg(one.record), '[]') as found from (${rows}) one`;
}

/** A column of the rows of a page besides `id` and `created_at`: its name, and its SQL over the table `t`. */
export type RowColumn = readonly [name: string, sql: string];

function columnsSql(columns: readonly RowColumn[]): string {
  return ['t.id', 't.created_at', ...columns.map(([name, sql]) => `${sql} as ${name}`)].join(', ');
}

/** How many records match at the root. */
export function totalStatement(connection: Connection, sql: StatementWriter): Statement {
  return sql.finish(`select ${totalSql(connection, sql, null)} as found`);
}

/** How many records match. `scope` is a condition on the row `t`. */
export function totalSql(connection: Connection, sql: StatementWriter, scope: string | null): string {
  const where = conditions(connection, sql, scope, 'many');
  return `(select count(*)::int from ${sourceSql(connection, sql, scope)} where ${where.join(' and ')})`;
}

/** How many records match for each parent: `[number]`. */
export function totalsStatement(connection: Connection, parents: Parents, sql: StatementWriter): Statement {
  const from = parentsSql(parents, sql);
  const total = totalSql(connection, sql, scopeSql(parents));
  return sql.finish(
    `select coalesce(json_agg(level.total order by level.place), '[]') as found from (
      select parent.place, ${total} as total from ${from}
    ) level`,
  );
}

/** The records of which a connection is read: those that refer to a parent, or those that a parent refers to. */
export type Parents =
  | { readonly inverse: Inverse; readonly ids: readonly string[] }
  | { readonly relation: Relation; readonly lists: readonly (readonly string[])[] };

function parentsSql(parents: Parents, sql: StatementWriter): string {
  return 'ids' in parents
    ? `unnest(${sql.add(parents.ids, 'uuid[]')}) with ordinality parent(id, place)`
    : `json_array_elements(${sql.add(JSON.stringify(parents.lists), 'json')}) with ordinality parent(ids, place)`;
}

function scopeSql(parents: Parents): string {
  if ('lists' in parents) return `t.id in (select ref::uuid from json_array_elements_text(parent.ids) ref)`;
  return refersSql(parents.inverse, 'parent');
}

/** The condition on the row `t` that it refers to the row `parent`. */
export function refersSql({ field, many }: Inverse, parent: string): string {
  const column = `t.${snakeCase(field)}`;
  return many ? `${column} @> array[${parent}.id] and ${column} <> '{}'` : `${column} = ${parent}.id`;
}

/** Which rows `rowsSql` selects, and what of them. */
export interface Rows {
  readonly columns: readonly RowColumn[];
  /** A condition on the row `t`; null at the root. */
  readonly scope: string | null;
}

/** The rows of one page in their order, and one more: `id`, `created_at` and the given columns. */
export function rowsSql(connection: Connection, sql: StatementWriter, rows: Rows): string {
  const byGroups = rows.scope === null && followsGroups(connection);
  return byGroups ? groupRowsSql(connection, sql, rows) : tableRowsSql(connection, sql, rows);
}

/**
 * The rows of one page. Relies on the index of the reference (column, created_at, id), or sorts the matching records: then only
 * their keys, because records are large.
 */
function tableRowsSql(connection: Connection, sql: StatementWriter, { columns: given, scope }: Rows): string {
  const { model, keys, isBackward, limit, words } = connection;
  const { table } = layoutOf(model);
  const columns = columnsSql(given);
  const order = (alias: string): string => orderSql(alias, keys, isBackward);
  if (scope === null && words !== null && isByCreation(keys)) {
    const near = firstMatchesSql(matchesOf(connection, words, sql), limit + 1);
    return `select ${columns} from ${near} near join ${table} t on t.id = near.id order by ${order('t')}`;
  }
  const compared = isByCreation(keys) && words === null ? 'few' : 'many';
  const matching = `${sourceSql(connection, sql, scope)} where ${inPage(connection, sql, scope, compared).join(' and ')}`;
  if (scope !== null && isByCreation(keys))
    return `select ${columns} from ${matching} order by ${order('t')} limit ${limit + 1}`;
  const from = isNumerous(model) ? sortableSql(keys, matching) : matching;
  const near = `(select t.id from ${from} order by ${order('t')} limit ${limit + 1})`;
  return `select ${columns} from ${near} near join ${table} t on t.id = near.id order by ${order('t')}`;
}

/**
 * The matching rows `t` with the columns of their order, and the condition that they are few enough to sort: no more are read. The cast
 * fails, because SQL has no other way to end a statement without a function. Keeps graphql.limit.sorted.
 */
function sortableSql(keys: readonly OrderKey[], matching: string): string {
  const max = GRAPH_LIMITS.sortedRecordsMax;
  const columns = keys.map(({ field }) => `t.${snakeCase(field)}`).join(', ');
  const matched = `select ${columns} from ${matching} limit ${max + 1}`;
  return `(with matched as materialized (${matched}) select matched.* from matched
    where case when (select count(*) from matched) > ${max} then ('${TOO_MANY_TO_SORT}' || (select count(*) from matched))::boolean else true end) t`;
}

/** What a page by creation with words consists of. */
function matchesOf(connection: Connection, words: Words, sql: StatementWriter): Matches {
  const { keys, isBackward } = connection;
  return {
    ...searchOf(connection, words, sql),
    where: inPage({ ...connection, words: null }, sql, null, 'few').join(' and '),
    order: (alias) => orderSql(alias, keys, isBackward),
    bounds: () => boundsOf(connection, sql),
  };
}

function searchOf({ model, filter }: Connection, words: Words, sql: StatementWriter): Search {
  return { model, words, sql, workspaceIds: idsIn(filter, 'workspaceId') };
}

/** Where the rows `t` of a list are: at the root those with words by the search index. */
function sourceSql(connection: Connection, sql: StatementWriter, scope: string | null): string {
  const { model, words } = connection;
  if (scope !== null || words === null) return `${layoutOf(model).table} t`;
  return searchedSql(searchOf(connection, words, sql));
}

/**
 * The same in the order of an index for a reader of several groups: the first records of each group by its index, such as (group_id,
 * created_at, id), then the first of these. A reader of thousands of groups first finds the groups that have the first records.
 */
function groupRowsSql(connection: Connection, sql: StatementWriter, { columns: given }: Rows): string {
  const { model, keys, isBackward, limit } = connection;
  const columns = columnsSql(withKeys(given, keys));
  const { table } = layoutOf(model);
  const inGroup = visibleToGroupSql(model, 'seen.id') ?? 'false';
  const where = [inGroup, ...besidesSql(connection, sql, 'few'), ...boundsOf(connection, sql)].join(' and ');
  const order = (alias: string): string => orderSql(alias, keys, isBackward);
  // Where the filter names workspaces, only their groups can have a match.
  const all = `(${sql.groupsIn(idsIn(connection.filter, 'workspaceId'))}) seen`;
  const seen = sql.hasFewGroups
    ? all
    : `(select seen.id from ${all}, lateral (
        select ${columnsSql(withKeys([], keys))} from ${table} t where ${where} order by ${order('t')} limit 1
      ) head order by ${order('head')} limit ${limit + 1}) seen`;
  return `select near.* from ${seen}, lateral (
      select ${columns} from ${table} t where ${where} order by ${order('t')} limit ${limit + 1}
    ) near order by ${order('near')} limit ${limit + 1}`;
}

/** With the keys of the order, by which the rows of several groups are sorted. */
function withKeys(columns: readonly RowColumn[], keys: readonly OrderKey[]): RowColumn[] {
  const names = new Set(['id', 'created_at', ...columns.map(([name]) => name)]);
  const missing = keys.map(({ field }) => snakeCase(field)).filter((name) => !names.has(name));
  return [...columns, ...missing.map((name): RowColumn => [name, `t.${name}`])];
}

/** Whether a page is read group by group. Not where the filter names few records, which their own indexes find. */
function followsGroups({ model, keys, filter, words }: Connection): boolean {
  if (!isNumerous(model) || !isIndexed(model, keys) || words !== null) return false;
  return !Object.entries(model.fields).some(
    ([field, { reference }]) => field !== 'workspaceId' && reference?.many === false && idsIn(filter, field) !== null,
  );
}

/** The ids that a filter allows a reference to have; null where it may have any. */
function idsIn(filter: Filter, field: string): readonly string[] | null {
  for (const one of conjunctsOf(filter)) {
    const ids = equalIds(one, field);
    if (ids !== null) return ids;
  }
  return null;
}

/** The ids that a filter compares a reference with; null without such a comparison. */
function equalIds(filter: Filter, field: string): readonly string[] | null {
  const { eq, in: list } = (filter[field] ?? {}) as { eq?: string | null; in?: readonly string[] | null };
  if (typeof eq === 'string') return [eq];
  return Array.isArray(list) ? list : null;
}

function inPage(
  connection: Connection,
  sql: StatementWriter,
  scope: string | null,
  compared: 'few' | 'many',
): string[] {
  return [...conditions(connection, sql, scope, compared), ...boundsOf(connection, sql)];
}

/** The conditions of the cursors. */
function boundsOf({ keys, after, before }: Connection, sql: StatementWriter): string[] {
  const add = (value: unknown, type: string): string => sql.add(value, type);
  return [
    ...(after === null ? [] : [beyondSql({ alias: 't', keys, isBefore: false }, after, add)]),
    ...(before === null ? [] : [beyondSql({ alias: 't', keys, isBefore: true }, before, add)]),
  ];
}

/** The conditions on the rows of `sourceSql`. */
function conditions(
  connection: Connection,
  sql: StatementWriter,
  scope: string | null,
  compared: 'few' | 'many',
): string[] {
  const { model, words } = connection;
  const isFound = (search: Search): string => (scope === null ? comparedSql(search, 't') : foundSql(search, 't'));
  return [
    ...(scope === null ? [] : [scope]),
    sql.sees(model),
    ...besidesSql(connection, sql, compared),
    ...(words === null ? [] : [isFound(searchOf(connection, words, sql))]),
  ];
}

/** The conditions besides who sees the rows, and the words. */
function besidesSql(
  { model, filter, includeArchived }: Connection,
  sql: StatementWriter,
  compared: 'few' | 'many',
): string[] {
  return [
    ...(includeArchived ? [] : notHiddenSql(model, 't', compared)),
    filterSql(model, filter, { alias: 't', sql }),
  ];
}

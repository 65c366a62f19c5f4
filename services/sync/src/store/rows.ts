import type { ModelRecord } from '@wts/contracts';
import { snakeCase, type Model } from '@wts/models';
import { literal, uuidList } from './literal.ts';
import { layoutOf } from './tables.ts';

/** A record with what the server knows about it. */
export interface Row {
  readonly model: Model;
  readonly id: string;
  readonly groupId: string;
  /** Null only for a person. */
  readonly workspaceId: string | null;
  readonly record: ModelRecord;
  /** The record as the JSON text that is stored and sent. */
  readonly text: string;
}

/**
 * `write`: will change or go. `refer`: must stay as it is until commit, because a new record points to it or takes its
 * group from it; FOR SHARE, since FOR KEY SHARE would let its group change underneath. `look`: no lock.
 */
export type LockStrength = 'look' | 'refer' | 'write';

const LOCKS: Record<LockStrength, string> = { look: '', refer: ' for share', write: ' for update' };

const selected = 'id, group_id, workspace_id, record::text as record';

/** Locked in order of id, models in order of the registry: two commits cannot wait for each other in a circle. */
export function selectRowsSql(model: Model, ids: Iterable<string>, lock: LockStrength): string {
  return `select ${selected} from ${layoutOf(model).table} where id in (${uuidList(ids)}) order by id${LOCKS[lock]}`;
}

/** Rests on the index every reference has (gin for lists). */
export function selectRelatedSql(
  relation: {
    readonly model: Model;
    readonly field: string;
    readonly values: Iterable<string>;
    readonly and?: { readonly field: string; readonly value: string } | undefined;
  },
  lock: LockStrength,
  limit: number,
): string {
  const { model, field, values, and } = relation;
  const column = snakeCase(field);
  const list = uuidList(values);
  const matches = model.fields[field]?.reference?.many
    ? `${column} && array[${list}]::uuid[] and ${column} <> '{}'`
    : `${column} in (${list})`;
  const narrowed = and ? ` and ${snakeCase(and.field)} = ${literal(and.value)}` : '';
  return `select ${selected} from ${layoutOf(model).table} where ${matches}${narrowed} order by id limit ${limit}${LOCKS[lock]}`;
}

export interface StoredRow {
  id: string;
  group_id: string;
  workspace_id: string | null;
  record: string;
}

export function rowOf(model: Model, stored: StoredRow): Row {
  return {
    model,
    id: stored.id,
    groupId: stored.group_id,
    workspaceId: stored.workspace_id,
    record: JSON.parse(stored.record) as ModelRecord,
    text: stored.record,
  };
}

/** The rows as values, and the columns read back out of their records. */
function sourceSql(model: Model, rows: readonly Row[]): string {
  const values = rows.map(
    (row) =>
      `('${row.groupId}'::uuid, ${row.workspaceId === null ? 'null' : `'${row.workspaceId}'`}::uuid, ${literal(row.text)}::json)`,
  );
  const typed = layoutOf(model).columns.map(({ field, type }) => `"${field}" ${type}`);
  return `(values ${values.join(',')}) as s(g, w, r), json_to_record(s.r) as c(${typed.join(', ')})`;
}

export function insertRowsSql(model: Model, rows: readonly Row[]): string {
  const { table, columns } = layoutOf(model);
  const names = columns.map(({ name }) => name).join(', ');
  const values = columns.map(({ field }) => `c."${field}"`).join(', ');
  return `insert into ${table} (${names}, workspace_id, group_id, record) select ${values}, s.w, s.g, s.r from ${sourceSql(model, rows)}`;
}

export function updateRowsSql(model: Model, rows: readonly Row[]): string {
  const { table, columns } = layoutOf(model);
  const sets = columns.filter(({ name }) => name !== 'id').map(({ name, field }) => `${name} = c."${field}"`);
  return `update ${table} t set ${sets.join(', ')}, workspace_id = s.w, group_id = s.g, record = s.r from ${sourceSql(model, rows)} where t.id = c.id`;
}

export function deleteRowsSql(model: Model, ids: readonly string[]): string {
  return `delete from ${layoutOf(model).table} where id in (${uuidList(ids)})`;
}

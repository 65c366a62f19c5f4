import { layoutOf, snakeCase, type Model, type RecordOf } from '@wts/models';
import { seenOrManagedSql } from '@wts/read-model';
import {
  preparedByKey,
  fromJsonList,
  joinedJsonList,
  jsonList,
  PreparedStatement,
  type Argument,
  type Statement,
} from './prepared.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** A record with what the server stores about it. */
export interface Row<Contents extends RecordOf<Model> = RecordOf<Model>> {
  readonly model: Model;
  readonly id: string;
  readonly groupId: string;
  /** Null only for a person. */
  readonly workspaceId: string | null;
  readonly record: Contents;
  /** The record as the JSON text that is stored and sent. */
  readonly text: string;
}

export type RowOf<M extends Model> = Row<RecordOf<M>>;

/**
 * `write`: will be changed or deleted. `refer`: must not change until commit, because a new record refers to it or takes its group
 * from it; FOR SHARE, because FOR KEY SHARE would allow its group to change. `look`: no lock.
 */
export type LockStrength = 'look' | HoldStrength;
export type HoldStrength = 'refer' | 'write';

const LOCKS: Record<LockStrength, string> = { look: '', refer: ' for share', write: ' for update' };

/** Most rows of a relation that one unit may read with a lock; one more is read, to detect that there are more. */
export const RELATED_MAX = SYNC_LIMITS.unitEntriesMax;

/**
 * The same for rows that are not locked: otherwise each batch with a change of a person in 10 000 workspaces would read them all.
 */
export const UNLOCKED_RELATED_MAX = SYNC_LIMITS.commitMembershipsReadMax;

const selected = 'id, group_id, workspace_id, record::text as record';

/** Locks rows in order of id, and models in order of the registry, so that two commits never wait for each other (a deadlock). */
export const selectRows = preparedByKey(
  (model: Model, lock: HoldStrength) =>
    new PreparedStatement(
      'uuid[]',
      `select ${selected} from ${layoutOf(model).table} where id = any($1) order by id${LOCKS[lock]}`,
    ),
);

/**
 * Only rows that one of these people may see, and those of workspaces that they manage: a manager may add themselves to a private
 * project by the mutation before. No other row is locked. So a person outside does not block the people who see the row, and cannot
 * detect the row by a wait or by the time that a lock takes. Keeps never.shown-outside.
 */
export const selectVisibleRows = preparedByKey(
  (model: Model, lock: HoldStrength) =>
    new PreparedStatement(
      'uuid[], uuid[]',
      `select ${selected} from ${layoutOf(model).table}
        where id = any($1) and ${seenOrManagedSql('$2', `select group_id from ${layoutOf(model).table} where id = any($1)`)}
        order by id${LOCKS[lock]}`,
    ),
);

/** Which ids are those of records, and which of deleted records whose descendants are still being deleted. */
export const selectIdHolders = preparedByKey(
  (model: Model) =>
    new PreparedStatement(
      'uuid[]',
      `select id, false as swept from ${layoutOf(model).table} where id = any($1)
        union all select root_id, true from sync.sweeps where root_id = any($1) and model = '${model.name}' and kind = 'delete'`,
    ),
);

/**
 * By the values of a reference and, unless `and` is empty, the value of that field. Relies on the index of every reference.
 * Without a lock each value has a limit of its own, so that one person with many memberships takes nothing from others.
 */
export const selectRelated = preparedByKey((model: Model, field: string, and: string, lock: LockStrength) => {
  const column = snakeCase(field);
  const matches = model.fields[field]?.reference?.many
    ? `${column} && $1 and ${column} <> '{}'`
    : `${column} = any($1)`;
  const narrowed = and === '' ? '' : ` and ${snakeCase(and)} = $2`;
  const types = and === '' ? 'uuid[]' : `uuid[], ${model.fields[and]?.sqlType ?? 'uuid'}`;
  if (lock === 'look' && !model.fields[field]?.reference?.many) {
    return new PreparedStatement(
      types,
      `select t.* from unnest($1) as s(value), lateral (
        select ${selected} from ${layoutOf(model).table} where ${column} = s.value${narrowed} order by id limit ${UNLOCKED_RELATED_MAX + 1}) t`,
    );
  }
  const found = (columns: string): string =>
    `select ${columns} from ${layoutOf(model).table} where ${matches}${narrowed} order by id limit ${RELATED_MAX + 1}${LOCKS[lock]}`;
  // Records to change may be of any size; the other relations are of memberships, which are small.
  return new PreparedStatement(
    types,
    lock === 'write'
      ? `select id, group_id, workspace_id, case when sum(octet_length(record)) over (order by id rows unbounded preceding) <= ${SYNC_LIMITS.unitTextBytesMax} then record end as record
          from (${found(selected)}) found order by id`
      : found(selected),
  );
});

/** The `holder` of these values of a unique key; `id` is their number in the arguments, from 1. Relies on the index of the key. */
export const selectKeys = preparedByKey((model: Model, fields: string) => {
  const names = fields.split(' ');
  const types = names.map((field) => `${model.fields[field]?.sqlType ?? 'uuid'}[]`);
  const places = names.map((_, index) => index + 1);
  return new PreparedStatement(
    types.join(', '),
    `select s.n::text as id, t.id as holder from unnest(${places.map((n) => `$${n}`).join(', ')}) with ordinality as s(${places.map((n) => `v${n}`).join(', ')}, n),
      lateral (select id from ${layoutOf(model).table} where ${names.map((field, index) => `${snakeCase(field)} = s.v${index + 1}`).join(' and ')} limit 1) t`,
  );
});

/** The values of a record in the fields of a unique key; null when one of them is empty, which conflicts with nothing. */
export function keyValues({ groupId, workspaceId, record }: Row, fields: readonly string[]): string[] | null {
  const values = fields.map((field) =>
    field === 'groupId' ? groupId : field === 'workspaceId' ? workspaceId : record[field],
  );
  return values.every((value) => typeof value === 'string') ? values : null;
}

export interface StoredRow {
  id: string;
  group_id: string;
  workspace_id: string | null;
  record: string;
}

/** A row of a relation; without its record where the relation is too large to read. */
export type RelatedRow = Omit<StoredRow, 'record'> & { record: string | null };

export function rowOf(model: Model, stored: StoredRow): Row {
  return {
    model,
    id: stored.id,
    groupId: stored.group_id,
    workspaceId: stored.workspace_id,
    record: JSON.parse(stored.record) as RecordOf<Model>,
    text: stored.record,
  };
}

/** The rows that are passed, each with the columns read out of its record: one call of each function for all rows. */
function sourceSql(model: Model): string {
  const { columns } = layoutOf(model);
  const typed = columns.map(({ field, type }) => `"${field}" ${type}`);
  const names = columns.map(({ field }) => `"${field}"`);
  return `rows from (unnest($1, $2, ${fromJsonList('$3')}), json_to_recordset(${joinedJsonList('$3')}) as (${typed.join(', ')})) as s(group_id, workspace_id, record, ${names.join(', ')})`;
}

const SOURCE_TYPES = 'uuid[], uuid[], text';

function source(rows: readonly Row[]): Argument[] {
  return [
    rows.map(({ groupId }) => groupId),
    rows.map(({ workspaceId }) => workspaceId),
    jsonList(rows.map(({ text }) => text)),
  ];
}

const INSERT = preparedByKey((model: Model) => {
  const { table, columns } = layoutOf(model);
  const names = columns.map(({ name }) => name).join(', ');
  const values = columns.map(({ field }) => `s."${field}"`).join(', ');
  return new PreparedStatement(
    SOURCE_TYPES,
    `insert into ${table} (${names}, workspace_id, group_id, record) select ${values}, s.workspace_id, s.group_id, s.record from ${sourceSql(model)}`,
  );
});

const UPDATE = preparedByKey((model: Model) => {
  const { table, columns } = layoutOf(model);
  const sets = columns.filter(({ name }) => name !== 'id').map(({ name, field }) => `${name} = s."${field}"`);
  return new PreparedStatement(
    SOURCE_TYPES,
    `update ${table} t set ${sets.join(', ')}, workspace_id = s.workspace_id, group_id = s.group_id, record = s.record from ${sourceSql(model)} where t.id = s.id`,
  );
});

const DELETE = preparedByKey(
  (model: Model) => new PreparedStatement('uuid[]', `delete from ${layoutOf(model).table} where id = any($1)`),
);

const UNCHANGED = preparedByKey(
  (model: Model) =>
    new PreparedStatement(
      'uuid[], text',
      `select sync.insist(count(*) = cardinality($1)) from unnest($1, string_to_array($2, chr(31))) as s(id, record)
        join ${layoutOf(model).table} t on t.id = s.id and t.record::text = s.record`,
    ),
);

/** Ends the transaction, to be tried again, unless these rows are stored as they were read. */
export function checkUnchanged(model: Model, rows: readonly Row[]): Statement {
  return UNCHANGED(model).with(
    rows.map(({ id }) => id),
    jsonList(rows.map(({ text }) => text)),
  );
}

export function insertRows(model: Model, rows: readonly Row[]): Statement {
  return INSERT(model).with(...source(rows));
}

export function updateRows(model: Model, rows: readonly Row[]): Statement {
  return UPDATE(model).with(...source(rows));
}

export function deleteRows(model: Model, ids: readonly string[]): Statement {
  return DELETE(model).with(ids);
}

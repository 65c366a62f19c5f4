import { isoTimeSql } from '@wts/log';
import { layoutOf, Workspace, type Column, type Model } from '@wts/models';
import { fieldsOf, isLong } from '../domain/fields.ts';

/** Which long texts a request reads. */
export interface Wants {
  /** True when the field is selected somewhere in the operation. */
  selects(field: string): boolean;
}

export const ALL_TEXTS: Wants = { selects: () => true };

/** Records up to this size are stored in their row, where reading a part costs more than reading the whole. */
const INLINE_BYTES = 2_000;

/**
 * The record of the row `alias`, as JSON. A large one without its long texts where the request does not select them, because reading
 * those would cost more than the rest of the query.
 */
export function recordSql(model: Model, alias: string, wants: Wants): string {
  const long = new Set(
    fieldsOf(model)
      .filter(([, field]) => isLong(field))
      .map(([name]) => name),
  );
  if (long.size === 0 || [...long].some((name) => wants.selects(name))) return `${alias}.record`;
  const parts = layoutOf(model)
    .columns.filter(({ field }) => !long.has(field))
    .map((column) => `'${column.field}', ${valueSql(alias, column)}`);
  const workspace = 'workspaceId' in model.fields ? [`'workspaceId', ${alias}.workspace_id`] : [];
  return `case when pg_column_size(${alias}.record) <= ${INLINE_BYTES} then ${alias}.record else json_build_object(${[...parts, ...workspace].join(', ')}) end`;
}

/** A value as it is in the record. Columns are derived from records, so they have milliseconds and no more. */
function valueSql(alias: string, { name, type }: Column): string {
  const column = `${alias}.${name}`;
  return type === 'timestamptz' ? isoTimeSql(column) : column;
}

/**
 * The record is in no deleted workspace. These are usually none, and read once for a statement, by index workspaces (archived_at).
 * Written as `is not null`, because PostgreSQL expects that of nearly all rows, and of `<> all` so few that it would sort them.
 */
const notDeletedSql = (alias: string): string =>
  `nullif(${alias}.workspace_id = any(array(
    select deleted.id from ${layoutOf(Workspace).table} deleted where deleted.archived_at is not null)), true) is not null`;

/**
 * Without archived records, without those of deleted workspaces, and without the tasks of archived projects, which are hidden with their
 * project. Where few records are compared, the project of each is looked up: PostgreSQL would otherwise read all archived projects of the database first, because it
 * does not know that a page ends early. Keeps graphql.reads.archived.
 */
export function notHiddenSql(model: Model, alias: string, compared: 'few' | 'many'): string[] {
  const { archivable, audience } = model;
  const inWorkspace = archivable && 'workspaceId' in model.fields;
  const own = [...(archivable ? [`${alias}.archived_at is null`] : []), ...(inWorkspace ? [notDeletedSql(alias)] : [])];
  if (audience.kind !== 'project' || audience.field !== 'projectId') return own;
  const project = `from sync.projects hidden where hidden.id = ${alias}.project_id`;
  const isShown =
    compared === 'few'
      ? `(select hidden.archived_at ${project}) is null`
      : `not exists (select ${project} and hidden.archived_at is not null)`;
  return [...own, `(${alias}.project_id is null or ${isShown})`];
}

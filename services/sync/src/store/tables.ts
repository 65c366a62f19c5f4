import { columnsOf, snakeCase, type Column, type Model } from '@wts/models';

/**
 * How a model is kept: a typed column for every field, and the record as ready-made JSON text. Columns are always derived
 * from that text by the statement that writes it, so the two cannot differ; reads for clients send the text as it is.
 * `group_id` and `workspace_id` say whose it is.
 */
export interface TableLayout {
  readonly table: string;
  /** Columns that repeat a field of the record; `workspace_id` stands outside, because every table has it. */
  readonly columns: readonly Column[];
}

const layouts = new Map<string, TableLayout>();

export function layoutOf(model: Model): TableLayout {
  let layout = layouts.get(model.name);
  if (!layout) {
    layout = { table: `sync.${model.table}`, columns: columnsOf(model).filter(({ field }) => field !== 'workspaceId') };
    layouts.set(model.name, layout);
  }
  return layout;
}

export function createTableSql(model: Model): string[] {
  const { table, columns } = layoutOf(model);
  const definitions = columns.map(({ name, type, nullable }) => `${name} ${type}${name === 'id' ? ' primary key' : nullable ? '' : ' not null'}`);
  return [
    `create table if not exists ${table} (${definitions.join(', ')}, workspace_id uuid, group_id uuid not null, record json not null)`,
    ...indexesSql(model),
  ];
}

/** Adds the columns that a newer declaration has; a migration calls it after a field was declared. */
export function addColumnsSql(model: Model, fields: readonly string[]): string[] {
  const { table, columns } = layoutOf(model);
  return columns
    .filter(({ field }) => fields.includes(field))
    .map(({ name, type }) => `alter table ${table} add column if not exists ${name} ${type}`);
}

function indexesSql(model: Model): string[] {
  const { table } = layoutOf(model);
  const index = (kind: string, columns: string[], rest = ''): string =>
    `create ${kind} if not exists ${model.table}_${columns.join('_')}_${kind === 'index' ? 'idx' : 'key'} on ${table} ${rest.startsWith('using') ? `${rest.split(' where ')[0]} (${columns.join(', ')}) where ${rest.split(' where ')[1]}` : `(${columns.join(', ')}) ${rest}`}`;
  const unique = model.unique.map((fields) => index('unique index', fields.map(snakeCase)));
  const references = Object.entries(model.fields).flatMap(([name, { reference, nullable }]) => {
    if (!reference || name === 'workspaceId') return [];
    const column = snakeCase(name);
    if (reference.many) return [index('index', [column], `using gin where ${column} <> '{}'`)];
    return [index('index', [column], nullable ? `where ${column} is not null` : '')];
  });
  // Bootstrap and batch read by group; id as second column makes the order stable.
  return [...unique, index('index', ['group_id', 'id']), index('index', ['workspace_id']), ...references];
}

/** The record rebuilt from its columns: what a migration writes after adding a field, and what the audit compares with. */
export function recordFromColumnsSql(model: Model): string {
  const parts = columnsOf(model).map(({ field, name, type }) => `'${field}', ${type === 'timestamptz' ? `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : name}`);
  return `json_build_object(${parts.join(', ')})`;
}

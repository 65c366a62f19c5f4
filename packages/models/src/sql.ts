import type { Field } from './field.ts';
import type { Model } from './model.ts';

/** The tables of models in PostgreSQL. Names are derived from the declaration. */
export interface Column {
  readonly field: string;
  readonly name: string;
  readonly type: Field['sqlType'];
  readonly nullable: boolean;
}

export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Every field of the record as a column. */
export function columnsOf(declared: Model): readonly Column[] {
  const own = Object.entries(declared.fields).map(([field, { sqlType, nullable }]) => ({
    field,
    name: snakeCase(field),
    type: sqlType,
    nullable,
  }));
  const kept: Column[] = [
    { field: 'createdAt', name: 'created_at', type: 'timestamptz', nullable: false },
    { field: 'updatedAt', name: 'updated_at', type: 'timestamptz', nullable: false },
  ];
  if (declared.archivable) kept.push({ field: 'archivedAt', name: 'archived_at', type: 'timestamptz', nullable: true });
  return [{ field: 'id', name: 'id', type: 'uuid', nullable: false }, ...own, ...kept];
}

/**
 * The table of a model: a typed column for every field, and the record as JSON text. The statement that writes the text derives the
 * columns from it, so the two cannot differ; reads for clients send the text unchanged. `group_id` and `workspace_id` are the group
 * and the workspace of the record.
 */
export interface TableLayout {
  readonly table: string;
  /** Columns of fields of the record; without `workspace_id`, which every table has. */
  readonly columns: readonly Column[];
}

const layouts = new WeakMap<Model, TableLayout>();

export function layoutOf(model: Model): TableLayout {
  let layout = layouts.get(model);
  if (!layout) {
    layout = { table: `sync.${model.table}`, columns: columnsOf(model).filter(({ field }) => field !== 'workspaceId') };
    layouts.set(model, layout);
  }
  return layout;
}

/** The table of a model with its indexes, which the migrations must result in. */
export function tableSql(model: Model): string[] {
  const { table, columns } = layoutOf(model);
  const definitions = columns.map(
    ({ name, type, nullable }) => `${name} ${type}${name === 'id' ? ' primary key' : nullable ? '' : ' not null'}`,
  );
  return [
    `create table ${table} (${definitions.join(', ')}, workspace_id uuid, group_id uuid not null, record json not null)`,
    ...indexesSql(model),
  ];
}

function indexesSql(model: Model): string[] {
  const { table } = layoutOf(model);
  const index = (columns: readonly string[], more: { unique?: true; gin?: true; where?: string } = {}): string => {
    const name = `${model.table}_${columns.join('_')}_${more.unique ? 'key' : 'idx'}`;
    const where = more.where === undefined ? '' : ` where ${more.where}`;
    return `create ${more.unique ? 'unique ' : ''}index ${name} on ${table}${more.gin ? ' using gin' : ''} (${columns.join(', ')})${where}`;
  };
  const statements = model.unique.map((fields) => index(fields.map(snakeCase), { unique: true }));
  // Bootstrap and batch read by group; the id makes the order stable.
  statements.push(index(['group_id', 'id']));
  for (const [field, { reference, nullable, assigned }] of Object.entries(model.fields)) {
    const column = snakeCase(field);
    // Not where a unique index begins with the column, and not for creators, by whom no query filters.
    if (!reference || assigned || model.unique.some(([first]) => first === field)) continue;
    if (reference.many) statements.push(index([column], { gin: true, where: `${column} <> '{}'` }));
    else statements.push(index([column], nullable ? { where: `${column} is not null` } : {}));
  }
  return statements;
}

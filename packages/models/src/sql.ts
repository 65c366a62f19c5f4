import type { Field } from './field.ts';
import type { Model } from './model.ts';

/** How a model stands in PostgreSQL. Names are derived, never written twice. */
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
 * How a model is kept: a typed column for every field, and the record as ready-made JSON text. Columns are always derived
 * from that text by the statement that writes it, so the two cannot differ; reads for clients send the text as it is.
 * `group_id` and `workspace_id` say whose it is.
 */
export interface TableLayout {
  readonly table: string;
  /** Columns that repeat a field of the record; `workspace_id` stands outside, because every table has it. */
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

/** The table of a model with its indexes: what the migrations must have led to. */
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
  // Bootstrap and batch read by group; id as second column makes the order stable.
  statements.push(index(['group_id', 'id']));
  for (const [field, { reference, nullable, assigned }] of Object.entries(model.fields)) {
    const column = snakeCase(field);
    // A unique index that begins with the column serves as well; nobody asks for records by who made them.
    if (!reference || assigned || model.unique.some(([first]) => first === field)) continue;
    if (reference.many) statements.push(index([column], { gin: true, where: `${column} <> '{}'` }));
    else statements.push(index([column], nullable ? { where: `${column} is not null` } : {}));
  }
  return statements;
}

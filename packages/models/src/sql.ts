import type { Field } from './field.ts';
import type { Model } from './model.ts';
import { listFieldOf, RANK_FIELD } from './placement.ts';

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
  return layouts.getOrInsertComputed(model, () => ({
    table: `sync.${model.table}`,
    columns: columnsOf(model).filter(({ field }) => field !== 'workspaceId'),
  }));
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
  // Bootstrap and batch read by group, in any order. GraphQL reads pages by group.
  statements.push(index(isNumerous(model) ? ['group_id', ...BY_CREATION] : ['group_id', 'id']));
  for (const field of model.orders)
    statements.push(index(['group_id', snakeCase(field), 'id'], { where: `${snakeCase(field)} is not null` }));
  for (const [field, { reference, nullable, assigned, isIndexed }] of Object.entries(model.fields)) {
    const column = snakeCase(field);
    // Not where a unique index begins with the column, and not for creators, by whom no query filters.
    if (!isIndexed && (!reference || assigned || model.unique.some(([first]) => first === field))) continue;
    const where = nullable ? { where: `${column} is not null` } : {};
    if (reference?.many) statements.push(index([column], { gin: true, where: `${column} <> '{}'` }));
    // Records that refer to one are read in pages too, so their index has the order of pages.
    else statements.push(index(isNumerous(model) ? [column, ...BY_CREATION] : [column], where));
  }
  const others = Object.entries(model.indexes).map(([name, on]) => `create index ${name} on ${table} ${on}`);
  return [...statements, ...others, ...listIndexesSql(model), searchIndexSql(model)].filter((sql) => sql !== null);
}

/** The order of pages where none is given. Neither column changes, so the indexes cost an insert, and no update. */
const BY_CREATION = ['created_at', 'id'];

/** Whether a workspace may have any number of these: tasks, and what belongs to them. Of other models a reader sees thousands at most. */
export function isNumerous({ audience }: Model): boolean {
  const { kind } = audience;
  return (kind === 'project' || kind === 'parent') && (audience.field === 'projectId' || audience.field === 'taskId');
}

/**
 * For placements, which find the records around a place in its list. Most tasks have no rank, and those of a list are read together:
 * their index has the list alone, so equal entries share one key, and a new one is the last of them.
 */
function listIndexesSql(model: Model): string[] {
  if (model.fields[RANK_FIELD] === undefined) return [];
  const field = listFieldOf(model);
  const list = field === null ? 'workspace_id' : `workspace_id, ${snakeCase(field)}`;
  const rank = `${snakeCase(RANK_FIELD)} collate "C"`;
  const on = `on sync.${model.table}`;
  return [
    `create index ${model.table}_order_idx ${on} (${list}, ${rank}, id) where ${rank} > ''`,
    `create index ${model.table}_unranked_idx ${on} (${list}) where ${rank} = ''`,
  ];
}

/** The texts that a search looks for words in: those of the search fields. `alias` ends with a point, or is empty. */
export function searchTextSql({ search, fields }: Model, alias = ''): string {
  const texts = search.map((field) => {
    const column = `${alias}${snakeCase(field)}`;
    return fields[field]?.nullable === true ? `coalesce(${column}, '')` : column;
  });
  return texts.join(` || ' ' || `);
}

/** A title for similar words and parts of words; null where the first search field may be long. */
export function searchTitleOf({ search: [first = ''], fields }: Model): string | null {
  return Number(fields[first]?.schema['maxLength'] ?? Infinity) <= TITLE_CHARS_MAX ? snakeCase(first) : null;
}

const TITLE_CHARS_MAX = 500;

/** The keys of the search index: trigrams of the title, and words of the one other text, each behind the group of the record. */
export function searchKeysSql(model: Model, alias = ''): string {
  const title = searchTitleOf(model);
  const [words] = model.search.slice(title === null ? 0 : 1).map(snakeCase);
  return `sync.search_keys(${alias}group_id, ${title === null ? 'null' : alias + title}, ${words === undefined ? 'null' : alias + words})`;
}

/**
 * An index for words and for parts of the title. Each key begins with the group, because otherwise a search would read entries of
 * records that its reader does not see, and its time would reveal them. Keeps graphql.search.time.
 */
function searchIndexSql(model: Model): string | null {
  if (model.search.length === 0 || !isNumerous(model)) return null;
  return `create index ${model.table}_search_keys_idx on sync.${model.table} using gin (${searchKeysSql(model)})`;
}

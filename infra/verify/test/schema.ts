import type { ClientBase } from 'pg';

export interface TableSchema {
  readonly name: string;
  readonly columns: readonly string[];
  readonly constraints: readonly string[];
  readonly indexes: readonly string[];
  readonly triggers: readonly string[];
  /** Its partition key; null: it is not partitioned. */
  readonly partitions: string | null;
  /** The table and bound of which it is a partition; null: it is none. */
  readonly partOf: string | null;
}

export interface DatabaseSchema {
  readonly sequences: readonly string[];
  readonly tables: readonly TableSchema[];
  readonly functions: readonly string[];
  readonly migrations: readonly string[];
  /** What other roles than the owner may do. */
  readonly grants: readonly string[];
}

/** Reads a schema in the notation of PostgreSQL's own catalog functions. */
export async function readSchema(client: ClientBase, schema: string): Promise<DatabaseSchema> {
  const texts = async (sql: string): Promise<string[]> =>
    (await client.query<{ text: string }>(sql, [schema])).rows.map(({ text }) => text);
  const tables = (await client.query<TableSchema>(TABLES, [schema])).rows;
  const isMigrated = tables.some(({ name }) => name === 'migrations');
  return {
    sequences: await texts(
      `select format('%s as %s', seqrelid::regclass, seqtypid::regtype) as text from pg_sequence
        join pg_class on oid = seqrelid where relnamespace = to_regnamespace($1) order by relname`,
    ),
    tables,
    functions: await texts(
      `select pg_get_functiondef(oid) as text from pg_proc where pronamespace = to_regnamespace($1) order by proname`,
    ),
    migrations: isMigrated
      ? await texts(`select name as text from ${schema}.migrations where $1 <> '' order by id`)
      : [],
    grants: await texts(GRANTS),
  };
}

/** PostgreSQL 18 also lists `not null` as a constraint; here it is part of the column. */
const TABLES = `select c.relname as name,
    array(select concat(quote_ident(a.attname), ' ', format_type(a.atttypid, a.atttypmod),
          ' default ' || pg_get_expr(d.adbin, d.adrelid), case when a.attnotnull then ' not null' end)
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum) as columns,
    array(select format('constraint %I %s', conname, pg_get_constraintdef(oid)) from pg_constraint
        where conrelid = c.oid and contype <> 'n' order by contype = 'f', conname) as constraints,
    array(select pg_get_indexdef(indexrelid) from pg_index join pg_class i on i.oid = indexrelid
        where indrelid = c.oid and not exists (select from pg_constraint where conindid = indexrelid) order by i.relname) as indexes,
    array(select pg_get_triggerdef(oid) from pg_trigger where tgrelid = c.oid and not tgisinternal order by tgname) as triggers,
    pg_get_partkeydef(c.oid) as partitions,
    (select format('%s %s', inhparent::regclass, pg_get_expr(c.relpartbound, c.oid)) from pg_inherits
        where inhrelid = c.oid) as "partOf"
  from pg_class c where c.relnamespace = to_regnamespace($1) and c.relkind in ('r', 'p')
  order by c.relispartition, c.relname`;

/** Rights on the schema and on its tables, a statement for each role and right. */
const GRANTS = `with tables as (select * from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'p')),
  rights as (
    select 2 as rank, privilege_type, grantee::regrole::text as role,
      case when count(*) = (select count(*) from tables) then 'all tables in schema ' || $1
        else string_agg(tables.oid::regclass::text, ', ' order by relname) end as what
    from tables, aclexplode(relacl) where grantee <> relowner group by 2, 3
    union all select 1, privilege_type, grantee::regrole::text, 'schema ' || $1
    from pg_namespace, aclexplode(nspacl) where nspname = $1 and grantee <> nspowner)
  select format('grant %s on %s to %s', lower(privilege_type), what, role) as text from rights order by rank, role, privilege_type`;

/** The statements that create the schema in a database with the roles of `infra/postgres/roles.sql`. */
export function schemaSql(
  schema: string,
  { sequences, tables, functions, migrations, grants }: DatabaseSchema,
): string {
  return [
    `set role wts_${schema};`,
    ...sequences.map((sequence) => `create sequence ${sequence};`),
    // Before the tables, whose indexes may call them.
    ...functions.map((text) => `${text.trim()};`),
    ...tables.map((table) => tableSql(schema, table)),
    ...tables.flatMap((table) => referencesSql(schema, table)),
    ...tables.flatMap(({ triggers }) => triggers.map((trigger) => `${trigger};`)),
    `insert into ${schema}.migrations (batch, name) values\n${migrations.map((name) => `  (1, '${name}')`).join(',\n')};`,
    ...(grants.length === 0 ? [] : [grants.map((grant) => `${grant};`).join('\n')]),
    'reset role;',
  ].join('\n\n');
}

const isReference = (constraint: string): boolean => constraint.includes(' FOREIGN KEY ');

/** After all tables, because a table may reference one whose name sorts after its own. */
function referencesSql(schema: string, { name, constraints }: TableSchema): string[] {
  return constraints.filter(isReference).map((constraint) => `alter table ${schema}.${name} add ${constraint};`);
}

function tableSql(schema: string, table: TableSchema): string {
  const { name, columns, constraints, indexes, partitions, partOf } = table;
  if (partOf !== null) return `create table ${schema}.${name} partition of ${partOf.replace(' ', '\n  ')};`;
  const own = constraints.filter((constraint) => !isReference(constraint));
  const lines = [...columns, ...own].map((line) => `  ${line}`).join(',\n');
  const end = partitions === null ? '' : ` partition by ${partitions}`;
  return [`create table ${schema}.${name} (\n${lines}\n)${end};`, ...indexes.map((index) => `${index};`)].join('\n');
}

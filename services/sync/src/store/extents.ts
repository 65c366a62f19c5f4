import { dependentsOf, layoutOf, ProjectMember, snakeCase, TeamMember, WorkspaceMember, type Model } from '@wts/models';
import { PreparedStatement, preparedByKey } from './prepared.ts';

/** Memberships that end with the membership of the workspace. */
export const MEMBERSHIPS_INSIDE: readonly Model[] = [TeamMember, ProjectMember];

/**
 * How much a cascade from each of these records includes: a number of records, and of bytes as they are stored. The statement
 * reads at most one record more than allowed below each, by the index of each reference, and twice as many below all of them, in
 * the order given; every record after that counts as too large. So a large cascade costs no more than one that is just too large,
 * and many of them no more than two. Nothing is locked.
 */
export const EXTENTS = preparedByKey((model: Model, scope: string) => {
  const { table } = layoutOf(model);
  const below =
    scope === 'own' ? [] : [...directSql(model, 'r.id', scope), ...inWorkspaceSql(model), ...chainSql(model)];
  const parts =
    below.length === 0
      ? 'select null::uuid as id, null::bigint as n, 0::bigint as bytes, 0 as level where $2 is null'
      : `select r.id, r.n, part.bytes, part.level from unnest($1) with ordinality r(id, n) join ${table} own on own.id = r.id
          cross join lateral (select bytes, level from (${below.join(' union all ')}) every limit $2 + 1) part limit 2 * ($2 + 1)`;
  return new PreparedStatement(
    'uuid[], integer',
    `with parts as materialized (${parts}),
        end_of as (select case when count(*) = 2 * ($2 + 1) then max(n) end as n from parts)
      select r.id, (case when r.n > end_of.n then $2 + 1 else 1 + count(part.bytes) end)::text as records,
          (coalesce(max(${bytesOf('own')}), 0) + coalesce(sum(part.bytes), 0))::text as bytes, coalesce(max(part.level), 0)::text as levels
        from unnest($1) with ordinality r(id, n) cross join end_of
        left join ${table} own on own.id = r.id left join parts part on part.id = r.id
        group by r.id, r.n, end_of.n`,
  );
});

/** The size of a record as text; that of a record that is not compressed is stored. */
function bytesOf(alias: string): string {
  return `case when pg_column_compression(${alias}.record) is null then pg_column_size(${alias}.record) else octet_length(${alias}.record::text) end::bigint`;
}

/**
 * What refers to a record, and what is below that. A child of the record's own model is left out: below a record of another model
 * it refers to that one too, and below one of its own model `chainSql` counts it.
 */
function directSql(model: Model, id: string, scope: string): string[] {
  return dependentsOf(model).flatMap(({ model: part, field, many, onDelete }, index) => {
    if (onDelete === 'clear' ? scope === 'move' : part === model) return [];
    const alias = `${id.split('.')[0]}_${index}`;
    const column = `${alias}.${snakeCase(field)}`;
    const matches = many ? `${column} && array[${id}] and ${column} <> '{}'` : `${column} = ${id}`;
    const from = `${layoutOf(part).table} ${alias}`;
    const own = `select ${bytesOf(alias)} as bytes, 1 as level from ${from} where ${matches}`;
    const nested = onDelete === 'delete' ? directSql(part, `${alias}.id`, scope) : [];
    if (nested.length === 0) return [own];
    return [
      own,
      `select below.bytes, 1 from ${from} cross join lateral (${nested.join(' union all ')}) below where ${matches}`,
    ];
  });
}

function inWorkspaceSql(model: Model): string[] {
  if (model !== WorkspaceMember) return [];
  return MEMBERSHIPS_INSIDE.map((inside, index) => {
    const alias = `inside_${index}`;
    return `select ${bytesOf(alias)} as bytes, 1 as level from ${layoutOf(inside).table} ${alias}
      where ${alias}.user_id = own.user_id and ${alias}.workspace_id = own.workspace_id`;
  });
}

function chainSql(model: Model): string[] {
  return dependentsOf(model).flatMap(({ model: part, field, onDelete }) => {
    if (part !== model || onDelete !== 'delete') return [];
    const column = snakeCase(field);
    const { table } = layoutOf(model);
    return [
      `select bytes, level from (
        with recursive chain(id, bytes, level) as (
          select c.id, ${bytesOf('c')}, 1 from ${table} c where c.${column} = r.id
          union all select c.id, ${bytesOf('c')}, chain.level + 1 from chain join ${table} c on c.${column} = chain.id
        ) select bytes, level from chain) chained`,
    ];
  });
}

/** How many records are above each of these, itself included; counting ends at one more than allowed. */
export const DEPTHS = preparedByKey((model: Model, field: string) => {
  const { table } = layoutOf(model);
  const column = snakeCase(field);
  return new PreparedStatement(
    'uuid[], integer',
    `select r.id, (
        with recursive above(up, depth) as (
          select c.${column}, 1 from ${table} c where c.id = r.id
          union all select c.${column}, above.depth + 1 from above join ${table} c on c.id = above.up where above.depth <= $2
        ) select coalesce(max(depth), 0) from above
      )::text as depth from unnest($1) r(id)`,
  );
});

import { dependentsOf, layoutOf, ProjectMember, snakeCase, TeamMember, WorkspaceMember, type Model } from '@wts/models';
import { Prepared, statements } from './prepared.ts';

/** What a person loses with their membership of a workspace. */
export const MEMBERSHIPS_INSIDE: readonly Model[] = [TeamMember, ProjectMember];

/**
 * How much goes, lets go or moves with each of these records: a number of records, and of bytes as they are read. At most one
 * more than asked for is looked at below each, by the index of each reference, and twice as many below all of them, in the order
 * given: what lies behind counts as too many. So a large family costs no more than one that is just too large, and many of them
 * no more than two. Nothing is locked.
 */
export const EXTENTS = statements((model: Model, way: string) => {
  const { table } = layoutOf(model);
  const below = way === 'own' ? [] : [...directSql(model, 'r.id', way), ...inWorkspaceSql(model), ...chainSql(model)];
  const parts =
    below.length === 0
      ? 'select null::uuid as id, null::bigint as n, 0::bigint as bytes, 0 as level where $2 is null'
      : `select r.id, r.n, part.bytes, part.level from unnest($1) with ordinality r(id, n) join ${table} own on own.id = r.id
          cross join lateral (select bytes, level from (${below.join(' union all ')}) every limit $2 + 1) part limit 2 * ($2 + 1)`;
  return new Prepared(
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

/** The size of a record as text; what is not compressed has it at hand. */
function bytesOf(alias: string): string {
  return `case when pg_column_compression(${alias}.record) is null then pg_column_size(${alias}.record) else octet_length(${alias}.record::text) end::bigint`;
}

/**
 * What points to a record, and what is below that. A part of its own model is left out: below a whole it points to the whole
 * as well, and below one of its own it is asked for as a chain.
 */
function directSql(model: Model, id: string, way: string): string[] {
  return dependentsOf(model).flatMap(({ model: part, field, many, onDelete }, index) => {
    if (onDelete === 'clear' ? way === 'move' : part === model) return [];
    const alias = `${id.split('.')[0]}_${index}`;
    const column = `${alias}.${snakeCase(field)}`;
    const matches = many ? `${column} && array[${id}] and ${column} <> '{}'` : `${column} = ${id}`;
    const from = `${layoutOf(part).table} ${alias}`;
    const own = `select ${bytesOf(alias)} as bytes, 1 as level from ${from} where ${matches}`;
    const nested = onDelete === 'delete' ? directSql(part, `${alias}.id`, way) : [];
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

/** How many records lie above each of these, itself included; it stops at one more than asked for. */
export const DEPTHS = statements((model: Model, field: string) => {
  const { table } = layoutOf(model);
  const column = snakeCase(field);
  return new Prepared(
    'uuid[], integer',
    `select r.id, (
        with recursive above(up, depth) as (
          select c.${column}, 1 from ${table} c where c.id = r.id
          union all select c.${column}, above.depth + 1 from above join ${table} c on c.id = above.up where above.depth <= $2
        ) select coalesce(max(depth), 0) from above
      )::text as depth from unnest($1) r(id)`,
  );
});

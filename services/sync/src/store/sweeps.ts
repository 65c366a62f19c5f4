import { dependentsOf, layoutOf, modelNamed, ProjectMember, snakeCase, WorkspaceMember, type Model } from '@wts/models';
import type { Pool } from 'pg';
import { MEMBERSHIPS_INSIDE } from './extents.ts';
import { PreparedStatement, preparedByKey, type Statement } from './prepared.ts';

/** `delete`: the record is deleted, and what is below it follows. `move`: the record changed its group, and what is below it follows. */
export type SweepKind = 'delete' | 'move';

/** What is left of a deletion or a move, below its root. */
export interface NewSweep {
  readonly kind: SweepKind;
  readonly model: Model;
  readonly rootId: string;
  readonly workspaceId: string | null;
  /** The person whose membership of a workspace ended. */
  readonly userId: string | null;
  readonly actorId: string;
}

export interface Sweep extends NewSweep {
  /** How often the root was moved: a sweep may end only if it found nothing left after the last move. */
  readonly generation: number;
}

/** Records that refer to the root, and what the sweep does with them. */
export interface SweepRelation {
  readonly model: Model;
  readonly field: string;
  readonly many: boolean;
  readonly value: string;
  readonly becomes: 'delete' | 'clear' | 'move';
}

/**
 * The relations in the order of work; `group` is the present group of a root that moved. The members of a project enter a group
 * before its tasks and leave it after them, so they see all of the project meanwhile. Those of a workspace leave it first, so that none
 * of them adds a record where the sweep has been.
 */
export function relationsOf(sweep: NewSweep, group: string | null): SweepRelation[] {
  const { kind, model, rootId, workspaceId, userId } = sweep;
  if (model === WorkspaceMember)
    return MEMBERSHIPS_INSIDE.map((inside) => ({
      model: inside,
      field: 'userId',
      many: false,
      value: userId ?? '',
      becomes: 'delete',
    }));
  const relations = dependentsOf(model).flatMap(({ model: part, field, many, onDelete }): SweepRelation[] => {
    if (kind === 'move' && onDelete === 'clear') return [];
    return [{ model: part, field, many, value: rootId, becomes: kind === 'move' ? 'move' : onDelete }];
  });
  if (kind === 'move' && group !== workspaceId) return relations;
  const placeOf = ({ model: part }: SweepRelation): number =>
    Number(part === ProjectMember) - Number(part === WorkspaceMember);
  return relations.toSorted((a, b) => placeOf(a) - placeOf(b));
}

const INSERT = new PreparedStatement(
  'text[], text[], uuid[], uuid[], uuid[], uuid[]',
  `insert into sync.sweeps as s (kind, model, root_id, workspace_id, user_id, actor_id) select * from unnest($1, $2, $3, $4, $5, $6)
    on conflict (root_id, model, kind) do update set generation = s.generation + 1`,
);

export function insertSweeps(sweeps: readonly NewSweep[]): Statement {
  return INSERT.with(
    sweeps.map(({ kind }) => kind),
    sweeps.map(({ model }) => model.name),
    sweeps.map(({ rootId }) => rootId),
    sweeps.map(({ workspaceId }) => workspaceId),
    sweeps.map(({ userId }) => userId),
    sweeps.map(({ actorId }) => actorId),
  );
}

/**
 * Ends the transaction, to be tried again, when one of these new records has the id of a deleted one whose descendants are still
 * being deleted. Where there are no sweeps, which is usual, the first condition is the only one evaluated.
 */
export const CHECK_NOT_SWEPT = new PreparedStatement(
  'text[], uuid[]',
  `select sync.insist(false) where (select true from sync.sweeps limit 1)
    and exists (select from unnest($1, $2) made(model, id) join sync.sweeps s on s.root_id = made.id and s.model = made.model and s.kind = 'delete')`,
);

/** Ends the transaction, to be tried again, when one of these people is a member again and a sweep still deletes their old memberships. */
export const CHECK_NOT_LEAVING = new PreparedStatement(
  'uuid[], uuid[]',
  `select sync.insist(false) where exists (select from unnest($1, $2) made(workspace_id, user_id) join sync.sweeps s using (workspace_id, user_id))`,
);

export const LEAVING = new PreparedStatement(
  'uuid[], uuid[]',
  `select s.workspace_id || ' ' || s.user_id as id from unnest($1, $2) wanted(workspace_id, user_id) join sync.sweeps s using (workspace_id, user_id)`,
);

/** People take turns, and so do the sweeps of one person. A sweep that another replica has leased is skipped. */
const CLAIM = `update sync.sweeps set leased_until = clock_timestamp() + make_interval(secs => $1), served_at = clock_timestamp()
  where (root_id, model, kind) = (
    select s.root_id, s.model, s.kind from sync.sweeps s
    where (s.root_id, s.model, s.kind) in (
      select root_id, model, kind from (
        select root_id, model, kind, leased_until, served_at, max(served_at) over (partition by actor_id) as person_served_at from sync.sweeps
      ) every where leased_until < clock_timestamp() order by person_served_at, served_at limit 8)
      and s.leased_until < clock_timestamp()
    limit 1 for update skip locked)
  returning kind, model, root_id as "rootId", workspace_id as "workspaceId", user_id as "userId", actor_id as "actorId", generation`;

/** Leases a sweep that no replica works at; null when there is none. */
export async function claimSweep(pool: Pool, leaseMs: number): Promise<Sweep | null> {
  const { rows } = await pool.query<Omit<Sweep, 'model'> & { readonly model: string }>(CLAIM, [leaseMs / 1000]);
  const [row] = rows;
  return row === undefined ? null : { ...row, model: modelNamed(row.model) };
}

export async function countSweeps(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int from sync.sweeps');
  return rows[0]?.count ?? 0;
}

/** Extends a lease; 0 ends it. */
export async function leaseSweep(pool: Pool, { kind, model, rootId }: Sweep, leaseMs: number): Promise<void> {
  await pool.query(
    `update sync.sweeps set leased_until = clock_timestamp() + make_interval(secs => $4) where root_id = $1 and model = $2 and kind = $3`,
    [rootId, model.name, kind, leaseMs / 1000],
  );
}

/** Ends a sweep of which nothing is left, unless the root was moved again since it was claimed. */
export async function endSweep(pool: Pool, { kind, model, rootId, generation }: Sweep): Promise<void> {
  await pool.query(`delete from sync.sweeps where root_id = $1 and model = $2 and kind = $3 and generation = $4`, [
    rootId,
    model.name,
    kind,
    generation,
  ]);
}

const REMAINING = preparedByKey((model: Model, field: string, many: string) => {
  const column = snakeCase(field);
  const matches = many === 'many' ? `${column} && array[$1::uuid] and ${column} <> '{}'` : `${column} = $1::uuid`;
  return new PreparedStatement(
    '',
    `select id from ${layoutOf(model).table} where ${matches} and ($2::uuid is null or workspace_id = $2::uuid)
      and ($3::uuid is null or group_id <> $3::uuid) and ($4::uuid[] is null or id = any($4::uuid[])) limit $5`,
  );
});

/** Which records to find: all that are left, or those of `among` that are. */
export interface RemainingQuery {
  readonly relation: SweepRelation;
  readonly workspaceId: string | null;
  /** The group of records that have moved already; null in a deletion. */
  readonly group: string | null;
  readonly among?: readonly string[];
  readonly limit: number;
}

/** Relies on the index of every reference: with an order, the planner might choose another one. */
export async function findRemaining(pool: Pool, query: RemainingQuery): Promise<string[]> {
  const { relation, workspaceId, group, among, limit } = query;
  const { text } = REMAINING(relation.model, relation.field, relation.many ? 'many' : 'one');
  const { rows } = await pool.query<{ id: string }>(text, [relation.value, workspaceId, group, among ?? null, limit]);
  return rows.map(({ id }) => id);
}

/** The group of a root; null when the root is deleted. */
export async function groupOfRoot(pool: Pool, { model, rootId }: Sweep): Promise<string | null> {
  const { rows } = await pool.query<{ group_id: string }>(
    `select group_id from ${layoutOf(model).table} where id = $1`,
    [rootId],
  );
  return rows[0]?.group_id ?? null;
}

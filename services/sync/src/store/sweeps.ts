import { dependentsOf, layoutOf, modelNamed, ProjectMember, snakeCase, WorkspaceMember, type Model } from '@wts/models';
import type { Pool } from 'pg';
import { MEMBERSHIPS_INSIDE } from './extents.ts';
import { Prepared, statements, type Call } from './prepared.ts';

/** `delete`: the record is gone, and what is below it goes. `move`: it is in another group, and what is below it follows. */
export type SweepKind = 'delete' | 'move';

/** What is left to do below a record that was deleted or moved. */
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
  /** Counts how often the root was moved: who finds nothing left must have looked after the last time. */
  readonly generation: number;
}

/** Records that point to the root, and what becomes of them. */
export interface SweepRelation {
  readonly model: Model;
  readonly field: string;
  readonly many: boolean;
  readonly value: string;
  readonly becomes: 'delete' | 'clear' | 'move';
}

/**
 * In which order they are worked off; `group` is where a root that moved is now. Who sees a project comes in before its tasks,
 * and goes out behind them: its members see all of it meanwhile.
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
  const isLast = (relation: SweepRelation): number => Number(relation.model === ProjectMember);
  return relations.toSorted((a, b) => isLast(a) - isLast(b));
}

const KEEP = new Prepared(
  'text[], text[], uuid[], uuid[], uuid[], uuid[]',
  `insert into sync.sweeps as s (kind, model, root_id, workspace_id, user_id, actor_id) select * from unnest($1, $2, $3, $4, $5, $6)
    on conflict (root_id, model, kind) do update set generation = s.generation + 1`,
);

export function keepSweeps(sweeps: readonly NewSweep[]): Call {
  return KEEP.with(
    sweeps.map(({ kind }) => kind),
    sweeps.map(({ model }) => model.name),
    sweeps.map(({ rootId }) => rootId),
    sweeps.map(({ workspaceId }) => workspaceId),
    sweeps.map(({ userId }) => userId),
    sweeps.map(({ actorId }) => actorId),
  );
}

/**
 * Ends the transaction, to be tried again, when one of these new records has the id of one whose parts are being deleted. Most
 * of the time there are no sweeps, and no more than that is looked at.
 */
export const NOT_SWEPT = new Prepared(
  'text[], uuid[]',
  `select sync.insist(false) where (select true from sync.sweeps limit 1)
    and exists (select from unnest($1, $2) made(model, id) join sync.sweeps s on s.root_id = made.id and s.model = made.model and s.kind = 'delete')`,
);

/** And when one of these people is a member again before their old memberships are cleared. */
export const NOT_LEAVING = new Prepared(
  'uuid[], uuid[]',
  `select sync.insist(false) where exists (select from unnest($1, $2) made(workspace_id, user_id) join sync.sweeps s using (workspace_id, user_id))`,
);

export const LEAVING = new Prepared(
  'uuid[], uuid[]',
  `select s.workspace_id, s.user_id from unnest($1, $2) asked(workspace_id, user_id) join sync.sweeps s using (workspace_id, user_id)`,
);

interface SweepRow {
  kind: SweepKind;
  model: string;
  root_id: string;
  workspace_id: string | null;
  user_id: string | null;
  actor_id: string;
  generation: number;
}

/** People take turns, and so do the sweeps of one person. What another replica works at is left to it. */
const CLAIM = `update sync.sweeps set leased_until = clock_timestamp() + make_interval(secs => $1), served_at = clock_timestamp()
  where (root_id, model, kind) = (
    select s.root_id, s.model, s.kind from sync.sweeps s
    where (s.root_id, s.model, s.kind) in (
      select root_id, model, kind from (
        select root_id, model, kind, leased_until, served_at, max(served_at) over (partition by actor_id) as person_served_at from sync.sweeps
      ) every where leased_until < clock_timestamp() order by person_served_at, served_at limit 8)
      and s.leased_until < clock_timestamp()
    limit 1 for update skip locked)
  returning kind, model, root_id, workspace_id, user_id, actor_id, generation`;

/** A sweep that nobody works at, for so long; null when there is none. */
export async function claimSweep(pool: Pool, leaseMs: number): Promise<Sweep | null> {
  const { rows } = await pool.query<SweepRow>(CLAIM, [leaseMs / 1000]);
  const [row] = rows;
  if (!row) return null;
  return {
    kind: row.kind,
    model: modelNamed(row.model),
    rootId: row.root_id,
    workspaceId: row.workspace_id,
    userId: row.user_id,
    actorId: row.actor_id,
    generation: row.generation,
  };
}

export async function countSweeps(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int from sync.sweeps');
  return rows[0]?.count ?? 0;
}

/** Works on for so long, or not at all. */
export async function leaseSweep(pool: Pool, { kind, model, rootId }: Sweep, leaseMs: number): Promise<void> {
  await pool.query(
    `update sync.sweeps set leased_until = clock_timestamp() + make_interval(secs => $4) where root_id = $1 and model = $2 and kind = $3`,
    [rootId, model.name, kind, leaseMs / 1000],
  );
}

/** Nothing is left, unless the root was moved again since it was claimed. */
export async function endSweep(pool: Pool, { kind, model, rootId, generation }: Sweep): Promise<void> {
  await pool.query(`delete from sync.sweeps where root_id = $1 and model = $2 and kind = $3 and generation = $4`, [
    rootId,
    model.name,
    kind,
    generation,
  ]);
}

const PARTS = statements((model: Model, field: string, many: string) => {
  const column = snakeCase(field);
  const matches = many === 'many' ? `${column} && array[$1::uuid] and ${column} <> '{}'` : `${column} = $1::uuid`;
  return new Prepared(
    '',
    `select id from ${layoutOf(model).table} where ${matches} and ($2::uuid is null or workspace_id = $2::uuid)
      and ($3::uuid is null or group_id <> $3::uuid) and ($4::uuid[] is null or id = any($4::uuid[])) limit $5`,
  );
});

/** Which records to look for: all that are left, or those of `among` that are. */
export interface PartsQuestion {
  readonly relation: SweepRelation;
  readonly workspaceId: string | null;
  /** The group that parts which follow are in already; null where they go. */
  readonly group: string | null;
  readonly among?: readonly string[];
  readonly limit: number;
}

/** Rests on the index of every reference: an order would offer the planner another one. */
export async function findParts(pool: Pool, question: PartsQuestion): Promise<string[]> {
  const { relation, workspaceId, group, among, limit } = question;
  const { text } = PARTS(relation.model, relation.field, relation.many ? 'many' : 'one');
  const { rows } = await pool.query<{ id: string }>(text, [relation.value, workspaceId, group, among ?? null, limit]);
  return rows.map(({ id }) => id);
}

/** The group a root is in; null when it is gone. */
export async function groupOfRoot(pool: Pool, { model, rootId }: Sweep): Promise<string | null> {
  const { rows } = await pool.query<{ group_id: string }>(
    `select group_id from ${layoutOf(model).table} where id = $1`,
    [rootId],
  );
  return rows[0]?.group_id ?? null;
}

import { servicePrincipal } from '@wts/access';
import { every, type BackgroundContext, type BackgroundWork } from '@wts/service-kit/background';
import type { Pool } from 'pg';
import type { CommitEngine } from '../commit/engine.ts';
import { ownUnit, type SweepStep } from '../decision/unit.ts';
import {
  claimSweep,
  countSweeps,
  endSweep,
  findRemaining,
  groupOfRoot,
  leaseSweep,
  relationsOf,
  type Sweep,
  type SweepRelation,
} from '../store/sweeps.ts';
import { SYNC_LIMITS } from '../limits.ts';

/*
 * The sweeper completes cascades that are too large for one commit: it deletes, moves or detaches the records below a root in
 * steps.
 *
 * A deletion or move with a large cascade changes its root and inserts a row into `sync.sweeps` in the same commit
 * (`rules/cascade.ts`, `rules/effects.ts`). From then on no record can be attached to a deleted root, and permissions below a
 * moved root follow the root. The sweeper finds the records that still refer to the root and passes them to the engine in
 * steps (`rules/sweep-step.ts`): ordinary units of the person who made the change, which wait for their turn like others.
 *
 * Only the root is stored between steps. The remaining records are found by their references, so after a crash any replica
 * continues the sweep. A lease keeps replicas from doing the same work; if two do, the second finds nothing to change. A
 * child with a large cascade of its own is a step of its own and starts a sweep of its own, so depth has no bound.
 *
 * See infra/decisions/0009-root-first.md. Keeps sync.mutate.always.
 */

export const SWEEP_CLIENT = 'sweep';
/** Steps of one sweep before another sweep gets a turn. */
const STEPS_IN_TURN = 16;
/** The remaining records wait for another sweep, such as that of a project whose tasks have not moved yet. */
const STUCK = -1;

export interface SweeperOptions {
  readonly pool: Pool;
  readonly engine: Pick<CommitEngine, 'commit'>;
  readonly leaseMs?: number;
}

/** Runs sweeps while the service runs: those of this process immediately, those of other replicas when their leases expire. */
export function startSweeper(
  context: BackgroundContext,
  options: SweeperOptions & { readonly engine: CommitEngine; readonly observe: (waiting: number) => void },
): BackgroundWork {
  const { pool, engine, observe } = options;
  const sweeping = every(context, {
    name: 'sweeps',
    everyMs: SYNC_LIMITS.sweepEveryMs,
    run: async ({ signal }) => {
      if (await new Sweeper(options, signal).turn()) return 'more';
      observe(await countSweeps(pool));
      return 'done';
    },
    failing:
      'a step of a deletion or move of many records failed; it is tried again. Until it succeeds, some of the records remain',
  });
  engine.onSweeps(() => sweeping.wake());
  return sweeping;
}

export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #signal: AbortSignal | undefined;

  constructor(options: SweeperOptions, signal?: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Runs up to `steps` steps of one sweep; false when no sweep waits. */
  async turn(steps = STEPS_IN_TURN): Promise<boolean> {
    const { pool, leaseMs = SYNC_LIMITS.sweepLeaseMs } = this.#options;
    const sweep = await claimSweep(pool, leaseMs);
    if (!sweep) return false;
    try {
      await this.#run(sweep, steps);
    } catch (error) {
      // So that another try does not have to wait until this lease expires.
      await leaseSweep(pool, sweep, SYNC_LIMITS.sweepEveryMs).catch(() => undefined);
      throw error;
    }
    return true;
  }

  async #run(sweep: Sweep, steps: number): Promise<void> {
    const { pool } = this.#options;
    let left = steps;
    const group = sweep.kind === 'move' ? await groupOfRoot(pool, sweep) : null;
    for (const relation of relationsOf(sweep, group)) {
      left = await this.#sweepRelation(sweep, relation, left);
      if (left > 0) continue;
      return leaseSweep(pool, sweep, left === STUCK ? SYNC_LIMITS.sweepEveryMs : 0);
    }
    return endSweep(pool, sweep);
  }

  /** Sweeps the records of one relation. Returns the steps left of this turn; 0 when records remain. */
  async #sweepRelation(sweep: Sweep, relation: SweepRelation, steps: number): Promise<number> {
    const { pool, leaseMs = SYNC_LIMITS.sweepLeaseMs } = this.#options;
    const { workspaceId } = sweep;
    let left = steps;
    for (;;) {
      const group = relation.becomes === 'move' ? await groupOfRoot(pool, sweep) : null;
      if (relation.becomes === 'move' && group === null) return left;
      const search = { relation, workspaceId, group };
      const ids = await findRemaining(pool, { ...search, limit: SYNC_LIMITS.sweepIdsMax });
      if (ids.length === 0) return left;
      for (let from = 0; from < ids.length; from += SYNC_LIMITS.sweepStepIdsMax) {
        let some = ids.slice(from, from + SYNC_LIMITS.sweepStepIdsMax);
        while (some.length > 0) {
          if (left === 0 || this.#signal?.aborted) return 0;
          left -= 1;
          const hasChanged = await this.#step({ sweep, relation, ids: some });
          await leaseSweep(pool, sweep, leaseMs);
          const rest = await findRemaining(pool, { ...search, among: some, limit: some.length });
          if (!hasChanged && rest.length === some.length) return STUCK;
          some = rest;
        }
      }
    }
  }

  /** Commits one step; true when it changed a record. */
  async #step(step: SweepStep): Promise<boolean> {
    const principal = { ...servicePrincipal('sync'), userId: step.sweep.actorId };
    const [outcome] = await this.#options.engine.commit([{ ...ownUnit(SWEEP_CLIENT, { step }), principal }]);
    if (!outcome?.ok) throw new Error(`A step of a sweep was refused: ${outcome?.error}`);
    return outcome.lastId > 0n;
  }
}

import { randomUUID } from 'node:crypto';
import { servicePrincipal } from '@wts/access';
import { LIMITS } from '@wts/contracts';
import type { Logger } from '@wts/service-kit/observe';
import type { Pool } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommitEngine } from '../commit/engine.ts';
import type { SweepStep } from '../commit/sweep-step.ts';
import type { Unit } from '../commit/unit.ts';
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

/*
 * What is too much for one commit is deleted, moved or let go behind it.
 *
 * A deletion or a move of a large family makes its root true at once, and leaves a row in `sync.sweeps` in the same commit
 * (`commit/cascade.ts`, `commit/effects.ts`). From then on nothing can be attached to a root that is gone, and what is below a
 * root that moved is judged by where the root stands. The sweeper looks up what still points to the root and hands it to the
 * engine in steps (`commit/sweep-step.ts`): ordinary units of the person who asked, which wait their turn like others.
 *
 * Nothing is remembered between steps but the root: what is left is found by its references, so a sweep goes on where it was
 * after any crash, on any replica. A lease keeps two replicas from doing the same; when they do, the second finds nothing to
 * do. A part that is itself large goes alone and leaves a sweep of its own, so depth has no bound.
 *
 * See infra/decisions/0009-root-first.md. Keeps sync.mutate.always.
 */

export const SWEEP_CLIENT = 'sweep';
/** So many steps, then the sweeps of other people have their turn. */
const STEPS_IN_TURN = 16;
/** What is left has to wait for another sweep: that of a project whose tasks have not followed it yet. */
const STUCK = -1;

export interface SweeperOptions {
  readonly pool: Pool;
  readonly engine: Pick<CommitEngine, 'commit'>;
  readonly leaseMs?: number;
}

/** Sweeps for as long as the service runs: at once what this process has left, and what others left when they are gone. */
export function startSweeper(
  options: SweeperOptions & {
    readonly engine: CommitEngine;
    readonly observe: (waiting: number) => void;
    readonly logger: Pick<Logger, 'warn'>;
  },
): AsyncDisposable {
  const { engine, observe, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const sweeper = new Sweeper(options, signal);
  let wake = new AbortController();
  engine.onSweeps(() => wake.abort());
  const sweep = async (): Promise<void> => {
    while (!signal.aborted) {
      wake = new AbortController();
      try {
        while (!signal.aborted && (await sweeper.turn()));
        observe(await countSweeps(options.pool));
      } catch (err) {
        if (!signal.aborted) logger.warn({ err }, 'a step of a sweep failed; it is tried again');
      }
      const until = AbortSignal.any([wake.signal, signal]);
      await sleep(LIMITS.sweepEveryMs, undefined, { signal: until, ref: false }).catch(() => undefined);
    }
  };
  const sweeping = sweep();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await sweeping;
    },
  };
}

export class Sweeper {
  readonly #options: SweeperOptions;
  readonly #signal: AbortSignal | undefined;

  constructor(options: SweeperOptions, signal?: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Works at one sweep for a while; false when there is none to work at. */
  async turn(steps = STEPS_IN_TURN): Promise<boolean> {
    const { pool, leaseMs = LIMITS.sweepLeaseMs } = this.#options;
    const sweep = await claimSweep(pool, leaseMs);
    if (!sweep) return false;
    try {
      await this.#take(sweep, steps);
    } catch (error) {
      // What failed for a moment must not wait for the lease of a replica that is alive.
      await leaseSweep(pool, sweep, LIMITS.sweepEveryMs).catch(() => undefined);
      throw error;
    }
    return true;
  }

  async #take(sweep: Sweep, steps: number): Promise<void> {
    const { pool } = this.#options;
    let left = steps;
    const group = sweep.kind === 'move' ? await groupOfRoot(pool, sweep) : null;
    for (const relation of relationsOf(sweep, group)) {
      left = await this.#work(sweep, relation, left);
      if (left > 0) continue;
      return leaseSweep(pool, sweep, left === STUCK ? LIMITS.sweepEveryMs : 0);
    }
    return endSweep(pool, sweep);
  }

  /** Takes the records of one relation away; how many steps are left of the turn, none when there is more to do. */
  async #work(sweep: Sweep, relation: SweepRelation, steps: number): Promise<number> {
    const { pool, leaseMs = LIMITS.sweepLeaseMs } = this.#options;
    const { workspaceId } = sweep;
    let left = steps;
    for (;;) {
      const group = relation.becomes === 'move' ? await groupOfRoot(pool, sweep) : null;
      if (relation.becomes === 'move' && group === null) return left;
      const question = { relation, workspaceId, group };
      const ids = await findRemaining(pool, { ...question, limit: LIMITS.sweepIdsMax });
      if (ids.length === 0) return left;
      for (let from = 0; from < ids.length; from += LIMITS.sweepStepIdsMax) {
        let some = ids.slice(from, from + LIMITS.sweepStepIdsMax);
        while (some.length > 0) {
          if (left === 0 || this.#signal?.aborted) return 0;
          left -= 1;
          const hasChanged = await this.#step({ sweep, relation, ids: some });
          await leaseSweep(pool, sweep, leaseMs);
          const rest = await findRemaining(pool, { ...question, among: some, limit: some.length });
          if (!hasChanged && rest.length === some.length) return STUCK;
          some = rest;
        }
      }
    }
  }

  /** True when it changed something. */
  async #step(step: SweepStep): Promise<boolean> {
    const unit: Unit = {
      principal: { ...servicePrincipal('sync'), userId: step.sweep.actorId },
      authority: 'service',
      clientId: SWEEP_CLIENT,
      clientTxId: randomUUID(),
      mutations: [],
      step,
    };
    const [outcome] = await this.#options.engine.commit([unit]);
    if (!outcome?.ok) throw new Error(`A step of a sweep was refused: ${outcome?.error}`);
    return outcome.lastId > 0n;
  }
}

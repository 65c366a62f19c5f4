import { Fault, LIMITS, type ActionChunk } from '@wts/contracts';
import type { Pool } from 'pg';
import { explainConflict, retriable } from '../store/conflicts.ts';
import type { ActionLog } from '../store/log.ts';
import { commitGroup, findReplays, type GroupOutcome, type GroupResult } from './group.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { Unit, UnitOutcome } from './unit.ts';
import { TooMuch, type Need } from './world.ts';

/*
 * Mutations are committed in groups: the log's lock and the flush to disk are paid once for many. When nothing is under way
 * a request goes at once; while groups are under way, those that arrive wait together and leave as the next group.
 *
 * Any replica may commit: order comes from the lock in PostgreSQL, not from this process. A unit is answered after its
 * group is on disk and never before: keeps never.acknowledged-lost.
 */

/** While one group flushes, the next one does its row work. */
const GROUPS_AT_ONCE = 2;
/** Deadlocks and idempotency races pass when tried again; what does not pass by then is an outage. */
const TRIES_MAX = 6;

interface Waiting {
  /** Units of one request: applied in this order, never overtaking each other. Keeps sync.mutate.order. */
  readonly units: readonly Unit[];
  readonly resolve: (outcomes: UnitOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

export interface EngineOptions {
  readonly pool: Pool;
  readonly log: ActionLog;
  readonly observe?: (group: { mutations: number; seconds: number }) => void;
}

export class CommitEngine {
  readonly #options: EngineOptions;
  readonly #listeners: ((chunk: ActionChunk) => void)[] = [];
  #queue: Waiting[] = [];
  #queuedUnits = 0;
  #underWay = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /** Called with every committed group, at once after its commit, in no promised order between groups. */
  onCommitted(listener: (chunk: ActionChunk) => void): void {
    this.#listeners.push(listener);
  }

  /** Commits the units of a request in order, each for itself; resolves when all are decided and safe on disk. */
  async commit(units: readonly Unit[]): Promise<UnitOutcome[]> {
    if (this.#queuedUnits + units.length > LIMITS.commitQueueMutationsMax) {
      throw new Fault('unavailable', {
        message: 'Too many changes are waiting; try again shortly',
        retryAfterSeconds: 1,
      });
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ units, resolve, reject });
      this.#queuedUnits += units.length;
      this.#start();
    });
  }

  get waiting(): number {
    return this.#queuedUnits;
  }

  #start(): void {
    while (this.#underWay < GROUPS_AT_ONCE && this.#queue.length > 0) {
      const batch = this.#take();
      this.#underWay += 1;
      void this.#run(batch).finally(() => {
        this.#underWay -= 1;
        this.#start();
      });
    }
  }

  #take(): Waiting[] {
    let units = 0;
    let count = 0;
    while (
      count < this.#queue.length &&
      (count === 0 || units + (this.#queue[count]?.units.length ?? 0) <= LIMITS.commitBatchMutations)
    ) {
      units += this.#queue[count]?.units.length ?? 0;
      count += 1;
    }
    this.#queuedUnits -= units;
    return this.#queue.splice(0, count);
  }

  /** Never rejects: every request of the batch is answered one way or the other. */
  async #run(batch: readonly Waiting[]): Promise<void> {
    const started = performance.now();
    try {
      const outcomes = await this.#commitOrDivide(batch.flatMap(({ units }) => units));
      let from = 0;
      for (const { units, resolve } of batch) {
        resolve(outcomes.slice(from, from + units.length));
        from += units.length;
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#options.observe?.({
      mutations: batch.reduce((sum, { units }) => sum + units.length, 0),
      seconds: (performance.now() - started) / 1000,
    });
  }

  /**
   * When a constraint refuses a group, or it is too much for one transaction, its halves are tried one after the other,
   * down to the unit that is at fault: one bad mutation never fails its neighbors, and order is kept.
   */
  async #commitOrDivide(units: readonly Unit[]): Promise<UnitOutcome[]> {
    try {
      return await this.#commitOnce(units);
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal) throw error;
      if (units.length === 1) return await this.#answers(units, [{ kind: 'refused', refusal }]);
      const middle = units.length >> 1;
      const first = await this.#commitOrDivide(units.slice(0, middle));
      return [...first, ...(await this.#commitOrDivide(units.slice(middle)))];
    }
  }

  async #commitOnce(units: readonly Unit[]): Promise<UnitOutcome[]> {
    const learned: Need[] = [];
    for (let attempt = 1; ; attempt += 1) {
      try {
        const result = await this.#transaction(units, learned);
        if (result.chunk) this.#tell(result.chunk);
        return await this.#answers(units, result.outcomes);
      } catch (error) {
        if (attempt === TRIES_MAX || !retriable(error)) throw error;
      }
    }
  }

  /** The change is true by now: a listener that fails must not make it look refused. */
  #tell(chunk: ActionChunk): void {
    for (const listener of this.#listeners) {
      try {
        listener(chunk);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }

  async #transaction(units: readonly Unit[], learned: Need[]): Promise<GroupResult> {
    const client = await this.#options.pool.connect();
    let broken: Error | undefined;
    try {
      return await commitGroup(client, units, learned);
    } catch (error) {
      // A connection whose transaction could not be ended is not given back: the next user would be inside it.
      broken = await client.query('rollback').then(
        () => undefined,
        (reason: unknown) => reason as Error,
      );
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /**
   * A unit that is sent again because its answer got lost may meet its first sending, committed while this one waited for
   * a lock or an index: the refusal is then about its own work, and the first answer stands.
   * Keeps sync.mutate.idempotent, never.applied-twice.
   */
  async #withLateReplays(units: readonly Unit[], outcomes: readonly GroupOutcome[]): Promise<readonly GroupOutcome[]> {
    if (outcomes.every(({ kind }) => kind !== 'refused')) return outcomes;
    const replays = await findReplays(this.#options.pool, units);
    return outcomes.map((outcome, index): GroupOutcome => {
      const replay = replays[index];
      return outcome.kind === 'refused' && replay ? { kind: 'replayed', replay } : outcome;
    });
  }

  /** Replays are answered from the log: the same answer as the first time. */
  async #answers(units: readonly Unit[], decided: readonly GroupOutcome[]): Promise<UnitOutcome[]> {
    const outcomes = await this.#withLateReplays(units, decided);
    const places = outcomes.flatMap((outcome) => {
      if (outcome.kind === 'replayed') return outcome.replay.mainIds;
      return outcome.kind === 'applied' ? outcome.mains.flatMap(({ effect, syncId }) => (effect ? [] : [syncId])) : [];
    });
    const logged = await this.#options.log.at(places);
    return outcomes.map((outcome, index): UnitOutcome => {
      if (outcome.kind === 'refused') return outcome.refusal;
      const mutations = units[index]?.mutations ?? [];
      const known =
        outcome.kind === 'applied' ? outcome.mains : outcome.replay.mainIds.map((syncId) => ({ syncId, effect: null }));
      return {
        ok: true,
        lastId: outcome.kind === 'applied' ? outcome.lastId : outcome.replay.lastId,
        replayed: outcome.kind === 'replayed' || known.every(({ effect }) => effect === null),
        mutations: mutations.map((mutation, position) => {
          const { syncId, effect } = known[position] ?? { syncId: 0n, effect: null };
          return {
            ...mutation,
            syncId,
            record: effect?.record ?? logged.get(syncId)?.record ?? { id: mutation.modelId },
          };
        }),
      };
    });
  }
}

/** What a failed group means for a unit that is alone in it; null when it is a failure of ours. */
function refusalOf(error: unknown): Refusal | null {
  if (error instanceof TooMuch) return refuse('conflict', error.message);
  const conflict = explainConflict(error);
  return conflict && refuse(conflict.code, conflict.error);
}

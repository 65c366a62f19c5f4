import { Fault, LIMITS, type ActionChunk, type LogAction, type ModelRecord } from '@wts/contracts';
import type { Pool } from 'pg';
import { explainConflict, retriable } from '../store/conflicts.ts';
import { alone, Line } from '../store/line.ts';
import type { ActionLog } from '../store/log.ts';
import { findReplays } from '../store/replays.ts';
import { foreseenNeeds } from './foresee.ts';
import { commitGroup, decideByHeart, type GroupOptions } from './group.ts';
import { Memory } from './memory.ts';
import { refuse, type Refusal } from './refusal.ts';
import { sentAs, type Effect, type Mutation, type Unit, type UnitOutcome } from './unit.ts';
import { TooMuch, type CascadeBounds, type World } from './world.ts';
import { writeGroup, type GroupOutcome, type GroupResult } from './write.ts';

/*
 * Mutations are committed in groups: the log's lock and the flush to disk are paid once for many. When nothing is under way
 * a request goes at once; while a group is under way, those that arrive wait together and leave as the next one.
 *
 * A second group sets out beside one that is being written when it has enough to carry. Small groups do not: each costs
 * PostgreSQL and this process about as much as ten mutations, so it is better to wait and to carry more.
 *
 * Any replica may commit: order comes from the lock in PostgreSQL, not from this process. A unit is answered after its
 * group is on disk and never before: keeps never.acknowledged-lost.
 */

/** A group that takes longer than this, for a lock somebody holds or a long cascade, does not hold up the others. */
const PATIENCE_MS = 50;
export const GROUPS_AT_ONCE_MAX = 3;
/** What a second group carries at least; with fewer, 64 clients get a tenth less done. */
const BESIDE_MIN = 32;
/** On the line: the one that PostgreSQL works on, and the next. */
const LINE_LENGTH_MAX = 2;
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
  /** What a deletion or a move takes along in its own commit. */
  readonly bounds?: CascadeBounds;
  readonly observe?: (group: { mutations: number; seconds: number }) => void;
}

export class CommitEngine {
  readonly #options: EngineOptions;
  #onSweeps: (() => void) | undefined;
  readonly #listeners: ((chunk: ActionChunk) => void)[] = [];
  readonly #memory = new Memory();
  readonly #line: Line;
  #queue: Waiting[] = [];
  #queuedUnits = 0;
  #underWay = 0;
  /** Of these, the ones that read before they write. */
  #readers = 0;
  /** What the youngest carries while it is being written; 0 before that. */
  #writing = 0;
  #startedAt = 0;
  #impatience: NodeJS.Timeout | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#line = new Line(options.pool);
  }

  /** Called with every committed group, at once after its commit, in no promised order between groups. */
  onCommitted(listener: (chunk: ActionChunk) => void): void {
    this.#listeners.push(listener);
  }

  /** Called when a committed group has left something to be swept. */
  onSweeps(listener: () => void): void {
    this.#onSweeps = listener;
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

  /** True when a group set out. */
  #start(): boolean {
    clearTimeout(this.#impatience);
    let hasStarted = false;
    while (this.#queue.length > 0 && this.#underWay < GROUPS_AT_ONCE_MAX) {
      const patience = this.#mayStart() ? 0 : this.#startedAt + PATIENCE_MS - performance.now();
      if (patience > 0) {
        this.#impatience = setTimeout(() => this.#start(), patience);
        break;
      }
      this.#underWay += 1;
      this.#writing = 0;
      this.#startedAt = performance.now();
      void this.#run(this.#take());
      hasStarted = true;
    }
    return hasStarted;
  }

  #mayStart(): boolean {
    if (this.#underWay === 0) return true;
    // Without trust a group holds the counters that it needs, and the next one would only wait for them.
    if (!this.#memory.isTrusted) return false;
    return this.#underWay === 1 && this.#writing > 0 && this.#queuedUnits >= Math.max(this.#writing, BESIDE_MIN);
  }

  /** Callers and services not together: for a service every row is read and held, also one that a caller only guessed at. */
  #take(): Waiting[] {
    let units = 0;
    let count = 0;
    while (
      count < this.#queue.length &&
      (count === 0 ||
        (authorityOf(this.#queue[count]) === authorityOf(this.#queue[0]) &&
          units + (this.#queue[count]?.units.length ?? 0) <= LIMITS.commitBatchMutations))
    ) {
      units += this.#queue[count]?.units.length ?? 0;
      count += 1;
    }
    this.#queuedUnits -= units;
    return this.#queue.splice(0, count);
  }

  /** Never rejects: every request of the batch is answered one way or the other. */
  async #run(batch: readonly Waiting[]): Promise<void> {
    const startedAt = performance.now();
    const units = batch.flatMap((request) => request.units);
    const chunks: ActionChunk[] = [];
    const [committed] = await Promise.allSettled([this.#commitOrDivide(units, chunks)]);
    this.#options.observe?.({ mutations: units.length, seconds: (performance.now() - startedAt) / 1000 });
    this.#underWay -= 1;
    // What waits is sent to PostgreSQL before this group is told and answered, so that both have work at the same time.
    if (this.#start()) await untilSent();
    for (const chunk of chunks) this.#tell(chunk);
    try {
      if (committed.status === 'rejected') throw committed.reason;
      const outcomes = await this.#answers(units, committed.value);
      let from = 0;
      for (const request of batch) {
        request.resolve(outcomes.slice(from, from + request.units.length));
        from += request.units.length;
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  /**
   * When a constraint refuses a group, or it is too much for one transaction, its halves are tried one after the other,
   * down to the unit that is at fault: one bad mutation never fails its neighbors, and order is kept. What got committed is
   * in `chunks`, also when what follows fails.
   */
  async #commitOrDivide(units: readonly Unit[], chunks: ActionChunk[]): Promise<readonly GroupOutcome[]> {
    try {
      return await this.#commitOnce(units, chunks);
    } catch (error) {
      const refusal = refusalOf(error);
      if (!refusal) throw error;
      if (units.length === 1) return [{ kind: 'refused', refusal }];
      const middle = units.length >> 1;
      const first = await this.#commitOrDivide(units.slice(0, middle), chunks);
      return [...first, ...(await this.#commitOrDivide(units.slice(middle), chunks))];
    }
  }

  async #commitOnce(units: readonly Unit[], chunks: ActionChunk[]): Promise<readonly GroupOutcome[]> {
    const needs = foreseenNeeds(units);
    const onSent = (world: World): void => {
      this.#memory.keepNumbers(world.newNumbers());
      this.#writing = units.length;
      this.#start();
    };
    for (let attempt = 1; ; attempt += 1) {
      const memory = attempt === 1 && this.#memory.isTrusted ? this.#memory : null;
      try {
        const { bounds } = this.#options;
        const { outcomes, chunk, sweeps } = await this.#transaction(units, { needs, memory, bounds, onSent });
        memory?.confirm();
        if (chunk) chunks.push(chunk);
        if (sweeps) this.#onSweeps?.();
        return outcomes;
      } catch (error) {
        this.#memory.forget();
        memory?.distrust();
        // What a group ran into that trusted its memory is looked at before it is told.
        const maySucceed = retriable(error) || (memory !== null && explainConflict(error) !== null);
        if (attempt === TRIES_MAX || !maySucceed) throw error;
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

  /** By heart when that is possible. Behind a group that reads it is not: it would come before that one counts. */
  async #transaction(units: readonly Unit[], options: GroupOptions): Promise<GroupResult> {
    const isLineFree = this.#readers === 0 && this.#line.length < LINE_LENGTH_MAX;
    const ready = isLineFree && options.memory ? decideByHeart(units, options.needs, options.memory) : null;
    return ready
      ? this.#line.run((client) => writeGroup(client, units, ready, options.onSent))
      : this.#readAndWrite(units, options);
  }

  async #readAndWrite(units: readonly Unit[], options: GroupOptions): Promise<GroupResult> {
    this.#readers += 1;
    try {
      return await alone(this.#options.pool, (client) => commitGroup(client, units, options));
    } finally {
      this.#readers -= 1;
    }
  }

  /**
   * A unit that is sent again because its answer got lost may meet its first sending, committed while this one waited for
   * a lock or an index: the refusal is then about its own work, and the first answer stands.
   * Keeps sync.mutate.idempotent, never.applied-twice.
   */
  async #withLateReplays(units: readonly Unit[], outcomes: readonly GroupOutcome[]): Promise<readonly GroupOutcome[]> {
    if (outcomes.every(({ kind }) => kind !== 'refused')) return outcomes;
    const replays = await findReplays(this.#options.pool, units.map(sentAs));
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
            record: shown(units[index], effect ?? ofRecord(mutation, logged.get(syncId))) ?? { id: mutation.modelId },
          };
        }),
      };
    });
  }
}

/** Units of one request have come by one door. */
function authorityOf(request: Waiting | undefined): Unit['authority'] | undefined {
  return request?.units[0]?.authority;
}

/** What is only waiting for promises and ticks happens, a connection of the pool among it; nothing is read from sockets. */
async function untilSent(): Promise<void> {
  for (let ticks = 0; ticks < 2; ticks += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
}

/** Where the last entry of a record was trimmed, another one stands at the place that answers for it. */
function ofRecord({ modelName, modelId }: Mutation, entry: LogAction | undefined): LogAction | undefined {
  return entry?.modelId === modelId.toLowerCase() && entry.modelName === modelName ? entry : undefined;
}

/** A credential for one workspace may repeat what its person did elsewhere; it is not told what that was. */
function shown(unit: Unit | undefined, entry: Effect | LogAction | undefined): ModelRecord | undefined {
  const only = unit?.principal.workspaceId;
  return only === undefined || entry?.workspaceId === only ? entry?.record : undefined;
}

/** What a failed group means for a unit that is alone in it; null when it is a failure of ours. */
function refusalOf(error: unknown): Refusal | null {
  if (error instanceof TooMuch) return refuse('conflict', error.message);
  const conflict = explainConflict(error);
  return conflict && refuse(conflict.code, conflict.error);
}

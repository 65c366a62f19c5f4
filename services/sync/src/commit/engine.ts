import { LIMITS, type ActionChunk } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { Semaphore } from '@wts/service-kit/call';
import { LOCK_TIMEOUT } from '@wts/service-kit/postgres';
import type { Pool } from 'pg';
import { explainConflict, retriable } from '../store/conflicts.ts';
import { alone, Line } from '../store/line.ts';
import { answersAtOnce, answersOf } from './answers.ts';
import type { Batch, Part } from './batch.ts';
import type { Group } from './decide-group.ts';
import { foreseenNeeds } from './foresee.ts';
import { commitGroup, decideByHeart, type GroupOptions } from './group.ts';
import { Memory } from './memory.ts';
import { BATCHES_AT_ONCE_MAX, Places } from './places.ts';
import { refuse } from './refusal.ts';
import { Refused } from './refused.ts';
import { CommitRequest, type CommitOptions } from './request.ts';
import { personOf, type Unit, type UnitOutcome } from './unit.ts';
import { tooMuchWaits, Waiting } from './waiting.ts';
import type { CascadeBounds } from './need.ts';
import { writeGroup, type GroupOutcome, type GroupResult } from './write.ts';

/*
 * Mutations are committed in batches: the log's lock and the flush to disk are paid once for many. When nothing is under way
 * a request goes at once; while a batch is under way, those that arrive wait together (`waiting.ts`: whose turn it is) and
 * leave as the next one (`places.ts`: when).
 *
 * Any replica may commit: order comes from the lock in PostgreSQL, not from this process. A unit is answered after its
 * batch is on disk and never before: keeps never.acknowledged-lost.
 *
 * What one unit does costs its neighbors nothing: a refusal is decided in memory (`decide-group.ts`), and a batch that fails
 * for a lock or a constraint is not tried with all of them again and again, but each of its requests goes alone.
 *
 * Keeps sync.mutate.order and sync.mutate.idempotent, never.applied-twice and never.one-takes-all.
 */

/** Of a batch of its own: deadlocks and idempotency races pass when tried again; what does not pass by then is an outage. */
const TRIES_MAX = 6;
/** Of a common batch: from what is remembered, and twice as it is. Then each request of it goes alone. */
const COMMON_TRIES_MAX = 3;
/** How long a common batch waits for rows that others hold. */
const COMMON_LOCK_TIMEOUT = '200ms';
/** How often it is looked at what is overdue. */
const OVERDUE_CHECK_MS = 250;
/** Answers that are read from the log at a time, of batches that are over. */
const ANSWERS_AT_ONCE = 1;

/** Connections that an engine needs: for each batch, for reading answers, and to cancel what is under way. */
export const COMMIT_CONNECTIONS = BATCHES_AT_ONCE_MAX + ANSWERS_AT_ONCE + 1;

export interface CommitWatch {
  onBatch?(batch: { mutations: number; seconds: number }): void;
  /** Not taken in: it cannot be done in time, or there is no room. */
  onRefused?(requests: number): void;
  /** Before it began: the client is gone, or the time is over. */
  onDropped?(reason: 'gone' | 'overdue'): void;
  /** A batch that nobody waits for. */
  onCancelled?(): void;
}

export interface EngineOptions {
  readonly pool: Pool;
  /** What a deletion or a move takes along in its own commit. */
  readonly bounds?: CascadeBounds;
  readonly watch?: CommitWatch;
}

/** A batch that fails for what one of its requests does. */
class Divided extends Error {}

export class CommitEngine {
  readonly #pool: Pool;
  readonly #log: LogReader;
  readonly #watch: CommitWatch;
  readonly #bounds: CascadeBounds | undefined;
  #onSweeps: (() => void) | undefined;
  readonly #listeners: ((chunk: ActionChunk) => void)[] = [];
  readonly #memory = new Memory();
  readonly #refused = new Refused();
  readonly #waiting = new Waiting();
  readonly #places = new Places();
  readonly #answering = new Semaphore(ANSWERS_AT_ONCE);
  readonly #line: Line;
  /** Batches that read counters before they write. */
  #numbering = 0;
  #impatience: NodeJS.Timeout | undefined;
  #overdueCheck: NodeJS.Timeout | undefined;

  constructor({ pool, watch = {}, bounds }: EngineOptions) {
    this.#pool = pool;
    this.#log = new LogReader(pool);
    this.#watch = watch;
    this.#bounds = bounds;
    this.#line = new Line(pool);
  }

  /** Called with every committed batch, at once after its commit, in no promised order between batches. */
  onCommitted(listener: (chunk: ActionChunk) => void): void {
    this.#listeners.push(listener);
  }

  /** Called when a committed batch has left something to be swept. */
  onSweeps(listener: () => void): void {
    this.#onSweeps = listener;
  }

  /**
   * Commits the units of a request in order, each for itself; resolves when all are decided and safe on disk. Rejects with
   * `unavailable` when that cannot be done in time: at once, if that can be foreseen.
   */
  async commit(units: readonly Unit[], options: CommitOptions = {}): Promise<UnitOutcome[]> {
    options.signal?.throwIfAborted();
    if (units.length === 0) return [];
    const deadlineMs = options.deadlineMs ?? performance.now() + LIMITS.commitDeadlineMs;
    const request = new CommitRequest(units, { signal: options.signal, deadlineMs }, (gone) => this.#onGone(gone));
    try {
      const refused = this.#waiting.admit(request);
      if (refused > 0) this.#watch.onRefused?.(refused);
    } catch (error) {
      request.reject(error);
      this.#watch.onRefused?.(1);
    }
    this.#start();
    this.#overdueCheck ??= setInterval(() => this.#checkOverdue(), OVERDUE_CHECK_MS).unref();
    return request.answer;
  }

  /** Units that wait. */
  get waiting(): number {
    return this.#waiting.units;
  }

  get waitingBytes(): number {
    return this.#waiting.bytes;
  }

  /** True when a batch set out. */
  #start(): boolean {
    clearTimeout(this.#impatience);
    let hasStarted = false;
    while (this.#waiting.units > 0) {
      const mayStart = this.#places.mayStart({
        waiting: this.#waiting.units,
        isTrusted: this.#memory.isTrusted,
        hasOthers: (person) => this.#waiting.hasOthers(person),
      });
      const batch = this.#waiting.take(mayStart, () => this.#watch.onDropped?.('overdue'));
      if (!batch) {
        const laterMs = Math.min(this.#places.patienceMs ?? Infinity, this.#waiting.restMs ?? Infinity);
        if (laterMs < Infinity) this.#impatience = setTimeout(() => this.#start(), laterMs);
        break;
      }
      this.#places.start(batch);
      void this.#run(batch);
      hasStarted = true;
    }
    return hasStarted;
  }

  /** Never rejects: every request of the batch is answered one way or the other, or waits again. */
  async #run(batch: Batch): Promise<void> {
    const startedAt = performance.now();
    const chunks: ActionChunk[] = [];
    const [committed] = await Promise.allSettled([this.#commit(batch, chunks)]);
    const ms = performance.now() - startedAt;
    this.#watch.onBatch?.({ mutations: batch.units.length, seconds: ms / 1000 });
    this.#places.end(batch);
    const outcomes = committed.status === 'fulfilled' ? committed.value : null;
    if (outcomes) {
      this.#waiting.learn(batch, outcomes, ms);
      this.#putBack(batch, outcomes);
    } else if (committed.status === 'rejected') this.#fail(batch, committed.reason);
    // What waits is sent to PostgreSQL before this batch is told and answered, so that both have work at the same time.
    if (this.#start()) await untilSent();
    for (const chunk of chunks) this.#tell(chunk);
    if (outcomes) await this.#answer(batch, outcomes);
    if (this.#places.underWay.size > 0) return;
    this.#waiting.rest();
    if (this.#waiting.units > 0) return;
    clearInterval(this.#overdueCheck);
    this.#overdueCheck = undefined;
  }

  async #answer(batch: Batch, outcomes: readonly GroupOutcome[]): Promise<void> {
    const reader = { pool: this.#pool, log: this.#log, gate: this.#answering };
    const units: Unit[] = [];
    const unread: GroupOutcome[] = [];
    const parts: { part: Part; from: number; to: number }[] = [];
    // What one request has to wait for is no matter of those beside it.
    for (const { part, first, done } of batch.settled(outcomes)) {
      const own = batch.units.slice(first, first + done);
      const decided = outcomes.slice(first, first + done);
      const known = answersAtOnce(own, decided);
      if (known) {
        part.request.give(part.from, known);
        continue;
      }
      parts.push({ part, from: units.length, to: units.length + done });
      units.push(...own);
      unread.push(...decided);
    }
    if (parts.length === 0) return;
    try {
      const { answers, textRead } = await answersOf(units, unread, reader);
      for (const { part, from, to } of parts) {
        this.#waiting.learnAnswer(part, textRead.slice(from, to));
        part.request.give(part.from, answers.slice(from, to));
      }
    } catch (error) {
      for (const { part } of parts) part.request.reject(error);
    }
  }

  /** What is left of requests of which a part was done waits before all else of their people. */
  #putBack(batch: Batch, outcomes: readonly GroupOutcome[]): void {
    for (const { part, done, isHeavy } of batch.settled(outcomes)) {
      const { request } = part;
      request.taken = part.from + done;
      request.isAlone ||= isHeavy;
      if (request.rest > 0) this.#wait(request);
    }
  }

  #wait(request: CommitRequest): void {
    if (request.isSettled) this.#watch.onDropped?.('gone');
    else this.#waiting.putBack(request);
  }

  #fail(batch: Batch, error: unknown): void {
    const isOverdue = batch.abandoned.aborted;
    for (const { request, from } of batch.parts) {
      if (!(error instanceof Divided)) {
        request.reject(isOverdue ? tooMuchWaits(LIMITS.commitDeadlineMs) : error);
        continue;
      }
      request.taken = from;
      request.isAlone = true;
      this.#wait(request);
    }
  }

  /** What got committed is in `chunks`, also when what follows fails. */
  async #commit(batch: Batch, chunks: ActionChunk[]): Promise<readonly GroupOutcome[]> {
    return batch.kind === 'alone' ? this.#commitOrDivide(batch, batch, chunks) : this.#commitOnce(batch, batch, chunks);
  }

  /**
   * When a constraint refuses what is written of one request, which is rare because unique keys are looked up before, its
   * halves are tried one after the other, down to the unit that is at fault.
   */
  async #commitOrDivide(batch: Batch, group: Group, chunks: ActionChunk[]): Promise<readonly GroupOutcome[]> {
    try {
      return await this.#commitOnce(batch, group, chunks);
    } catch (error) {
      const conflict = explainConflict(error);
      if (!conflict) throw error;
      for (const person of batch.people) this.#waiting.setApart(person);
      const { units, requests } = group;
      if (units.length === 1) return [{ kind: 'refused', refusal: refuse(conflict.code, conflict.error), weight: 1 }];
      const middle = units.length >> 1;
      const half = (from: number, to: number): Group => ({
        units: units.slice(from, to),
        requests: requests.slice(from, to),
      });
      const first = await this.#commitOrDivide(batch, half(0, middle), chunks);
      const later = first.find(({ kind }) => kind === 'later');
      if (later) return [...first, ...units.slice(middle).map(() => later)];
      return [...first, ...(await this.#commitOrDivide(batch, half(middle, units.length), chunks))];
    }
  }

  async #commitOnce(batch: Batch, group: Group, chunks: ActionChunk[]): Promise<readonly GroupOutcome[]> {
    const isAlone = batch.kind === 'alone';
    const needs = foreseenNeeds(group.units);
    let wasMisled = false;
    for (let attempt = 1; ; attempt += 1) {
      batch.abandoned.throwIfAborted();
      const memory = attempt === 1 && batch.kind === 'common' && this.#memory.isTrusted ? this.#memory : null;
      try {
        const { outcomes, chunk, sweeps } = await this.#transaction(batch, group, { needs, memory });
        memory?.confirm();
        if (wasMisled) this.#findMisleading(group, outcomes);
        if (chunk) chunks.push(chunk);
        if (sweeps) this.#onSweeps?.();
        return outcomes;
      } catch (error) {
        wasMisled ||= memory !== null;
        // What a batch ran into that trusted its memory is looked at before it is told.
        const maySucceed = retriable(error) || (memory !== null && explainConflict(error) !== null);
        if (maySucceed && attempt < (isAlone ? TRIES_MAX : COMMON_TRIES_MAX)) continue;
        if (wasMisled) this.#memory.distrust();
        throw this.#failureOf(batch, error, maySucceed);
      }
    }
  }

  #failureOf(batch: Batch, error: unknown, mayPass: boolean): unknown {
    if (batch.kind !== 'alone') return mayPass || explainConflict(error) ? new Divided('', { cause: error }) : error;
    for (const person of batch.people) this.#waiting.setApart(person);
    return error;
  }

  /**
   * Who sends again what is there already misleads the memory, which expects new records: they go apart, and it is trusted as
   * before. When there is none of them, others write to the same workspaces elsewhere, and it is not.
   */
  #findMisleading(group: Group, outcomes: readonly GroupOutcome[]): void {
    let isFound = false;
    for (const [index, outcome] of outcomes.entries()) {
      const isNew = outcome.kind === 'applied' && outcome.mains.every(({ effect }) => effect !== null);
      const unit = group.units[index];
      if (isNew || !unit) continue;
      isFound = true;
      this.#waiting.setApart(personOf(unit));
    }
    if (!isFound) this.#memory.distrust();
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

  /** By heart when that is possible. Behind a batch that reads numbers it is not: it would come before that one counts. */
  async #transaction(
    batch: Batch,
    group: Group,
    { needs, memory }: Pick<GroupOptions, 'needs' | 'memory'>,
  ): Promise<GroupResult> {
    let isSent = false;
    const options: GroupOptions = {
      needs,
      memory,
      room: batch.room,
      bounds: this.#bounds,
      lockTimeout: batch.kind === 'alone' ? LOCK_TIMEOUT : COMMON_LOCK_TIMEOUT,
      refused: this.#refused,
      onSent: (world) => {
        isSent = true;
        this.#memory.keepNumbers(world.newNumbers());
        this.#places.wrote(batch);
        this.#start();
      },
    };
    const ready = this.#numbering === 0 && this.#line.hasRoom ? decideByHeart(group, options) : null;
    const isNumbering = !ready && needs.some(({ kind }) => kind === 'counter');
    if (isNumbering) this.#numbering += 1;
    try {
      return ready
        ? await this.#line.run((client) => writeGroup(client, group.units, ready, options.onSent))
        : await alone(this.#pool, (client) => commitGroup(client, group, options), batch.abandoned);
    } catch (error) {
      if (isSent) this.#memory.forget();
      throw error;
    } finally {
      if (isNumbering) this.#numbering -= 1;
    }
  }

  // What nobody waits for any more.

  #onGone(request: CommitRequest): void {
    if (this.#waiting.remove(request)) this.#watch.onDropped?.('gone');
    if (request.batch) this.#abandonIf(request.batch, ({ isSettled }) => isSettled);
  }

  #checkOverdue(): void {
    const now = performance.now();
    const isOverdue = (request: CommitRequest): boolean => now >= request.deadlineMs;
    for (const request of this.#waiting.which(isOverdue)) {
      this.#waiting.remove(request);
      request.reject(tooMuchWaits(LIMITS.commitDeadlineMs));
      this.#watch.onDropped?.('overdue');
    }
    for (const batch of this.#places.underWay) {
      if (now < batch.startedAt + LIMITS.commitBatchMs) continue;
      this.#abandonIf(batch, (request) => request.isSettled || isOverdue(request));
    }
  }

  #abandonIf(batch: Batch, isOver: (request: CommitRequest) => boolean): void {
    if (this.#places.underWay.has(batch) && batch.abandonIf(isOver)) this.#watch.onCancelled?.();
  }
}

/** What is only waiting for promises and ticks happens, a connection of the pool among it; nothing is read from sockets. */
async function untilSent(): Promise<void> {
  for (let ticks = 0; ticks < 2; ticks += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
}

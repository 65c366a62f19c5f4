import { LIMITS, type EntryChunk } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { Semaphore } from '@wts/service-kit/call';
import { LOCK_TIMEOUT } from '@wts/service-kit/postgres';
import type { Pool } from 'pg';
import { explainConflict, retriable } from '../store/conflicts.ts';
import { ownTransaction } from '../store/pipeline.ts';
import { answersAtOnce, answersOf } from './answers.ts';
import type { Batch, Part } from './batch.ts';
import type { BatchUnits } from './decide-batch.ts';
import { FastPath } from './fast-path.ts';
import { foreseenNeeds } from './foresee.ts';
import { commitBatch, type BatchOptions } from './commit-batch.ts';
import { BATCHES_AT_ONCE_MAX, Places } from './places.ts';
import { refuse } from './refusal.ts';
import { Refused } from './refused.ts';
import { CommitRequest, type CommitOptions } from './request.ts';
import { personOf, type Unit, type UnitOutcome } from './unit.ts';
import { tooMuchWaits, Waiting } from './waiting.ts';
import type { CascadeBounds } from './need.ts';
import type { UnitResult, BatchResult } from './write.ts';

/*
 * Mutations are committed in batches: the log's lock and the flush to disk are paid once for many. When nothing is under way
 * a request goes at once; while a batch is under way, those that arrive wait together (`waiting.ts`: whose turn it is) and
 * leave as the next one (`places.ts`: when).
 *
 * Any replica may commit: order comes from the lock in PostgreSQL, not from this process. A unit is answered after its
 * batch is on disk and never before: keeps never.acknowledged-lost.
 *
 * What one unit does costs its neighbors nothing: a refusal is decided in memory (`decide-batch.ts`), and a batch that fails
 * for a lock or a constraint is not tried with all of them again and again, but each of its requests goes alone.
 *
 * Keeps sync.mutate.order and sync.mutate.idempotent, never.applied-twice and never.one-takes-all.
 */

/** Of a batch of its own: deadlocks and idempotency races pass when tried again; what does not pass by then is an outage. */
const TRIES_MAX = 6;
/** Of a common batch: once from the cache, and twice without. Then each request of it goes alone. */
const COMMON_TRIES_MAX = 3;
/** How long a common batch waits for rows that others hold. */
const COMMON_LOCK_TIMEOUT = '200ms';
/** How often the engine looks for work that nobody waits for: the client is gone, or the time is over. */
const ABANDONED_CHECK_MS = 250;
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
  /** False: every batch reads and locks what it needs (`fast-path.ts`). */
  readonly fastPath?: boolean;
}

/** A batch that fails for what one of its requests does. */
class Divided extends Error {}

export class CommitEngine {
  readonly #pool: Pool;
  readonly #log: LogReader;
  readonly #watch: CommitWatch;
  readonly #bounds: CascadeBounds | undefined;
  #onSweeps: (() => void) | undefined;
  readonly #listeners: ((chunk: EntryChunk) => void)[] = [];
  readonly #refused = new Refused();
  readonly #waiting = new Waiting();
  readonly #places = new Places();
  readonly #answering = new Semaphore(ANSWERS_AT_ONCE);
  readonly #fastPath: FastPath;
  #impatience: NodeJS.Timeout | undefined;
  #abandonedCheck: NodeJS.Timeout | undefined;

  constructor({ pool, watch = {}, bounds, fastPath = true }: EngineOptions) {
    this.#pool = pool;
    this.#log = new LogReader(pool);
    this.#watch = watch;
    this.#bounds = bounds;
    this.#fastPath = new FastPath(pool, fastPath);
  }

  /** Called with every committed batch, at once after its commit, in no promised order between batches. */
  onCommitted(listener: (chunk: EntryChunk) => void): void {
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
    const request = new CommitRequest(units, { signal: options.signal, deadlineMs });
    try {
      const refused = this.#waiting.admit(request);
      if (refused > 0) this.#watch.onRefused?.(refused);
    } catch (error) {
      request.reject(error);
      this.#watch.onRefused?.(1);
    }
    this.#start();
    this.#abandonedCheck ??= setInterval(() => this.#checkAbandoned(), ABANDONED_CHECK_MS).unref();
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
        mayOverlap: this.#fastPath.cache !== null,
        hasOthers: (person) => this.#waiting.hasOthers(person),
      });
      const batch = this.#waiting.take(mayStart, (request) => this.#drop(request));
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
    const chunks: EntryChunk[] = [];
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
    if (this.#places.underWay.length > 0) return;
    this.#waiting.rest();
    if (this.#waiting.units > 0) return;
    clearInterval(this.#abandonedCheck);
    this.#abandonedCheck = undefined;
  }

  async #answer(batch: Batch, outcomes: readonly UnitResult[]): Promise<void> {
    const reader = { pool: this.#pool, log: this.#log, gate: this.#answering };
    const units: Unit[] = [];
    const unread: UnitResult[] = [];
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
  #putBack(batch: Batch, outcomes: readonly UnitResult[]): void {
    for (const { part, done, isHeavy } of batch.settled(outcomes)) {
      const { request } = part;
      request.taken = part.from + done;
      request.isAlone ||= isHeavy;
      if (request.rest > 0) this.#wait(request);
    }
  }

  #wait(request: CommitRequest): void {
    if (request.isGone) this.#drop(request);
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
  async #commit(batch: Batch, chunks: EntryChunk[]): Promise<readonly UnitResult[]> {
    return batch.kind === 'alone' ? this.#commitOrDivide(batch, batch, chunks) : this.#commitOnce(batch, batch, chunks);
  }

  /**
   * When a constraint refuses what is written of one request, which is rare because unique keys are looked up before, its
   * halves are tried one after the other, down to the unit that is at fault.
   */
  async #commitOrDivide(batch: Batch, selected: BatchUnits, chunks: EntryChunk[]): Promise<readonly UnitResult[]> {
    try {
      return await this.#commitOnce(batch, selected, chunks);
    } catch (error) {
      const conflict = explainConflict(error);
      if (!conflict) throw error;
      for (const person of batch.people) this.#waiting.setApart(person);
      const { units, requests } = selected;
      if (units.length === 1) return [{ kind: 'refused', refusal: refuse(conflict.code, conflict.error), weight: 1 }];
      const middle = units.length >> 1;
      const half = (from: number, to: number): BatchUnits => ({
        units: units.slice(from, to),
        requests: requests.slice(from, to),
      });
      const first = await this.#commitOrDivide(batch, half(0, middle), chunks);
      const later = first.find(({ kind }) => kind === 'later');
      if (later) return [...first, ...units.slice(middle).map(() => later)];
      return [...first, ...(await this.#commitOrDivide(batch, half(middle, units.length), chunks))];
    }
  }

  async #commitOnce(batch: Batch, selected: BatchUnits, chunks: EntryChunk[]): Promise<readonly UnitResult[]> {
    const isAlone = batch.kind === 'alone';
    const needs = foreseenNeeds(selected.units);
    let hadConflict = false;
    for (let attempt = 1; ; attempt += 1) {
      batch.abandoned.throwIfAborted();
      const cache = attempt === 1 && batch.kind === 'common' ? this.#fastPath.cache : null;
      try {
        const { outcomes, chunk, sweeps } = await this.#transaction(batch, selected, { needs, cache });
        cache?.onSuccess();
        if (hadConflict && !this.#setApartRepeated(selected, outcomes)) this.#fastPath.backOff();
        if (chunk) chunks.push(chunk);
        if (sweeps) this.#onSweeps?.();
        return outcomes;
      } catch (error) {
        hadConflict ||= cache !== null;
        // A conflict with the cache is no answer: what is in the database decides.
        const maySucceed = retriable(error) || (cache !== null && explainConflict(error) !== null);
        if (maySucceed && attempt < (isAlone ? TRIES_MAX : COMMON_TRIES_MAX)) continue;
        if (hadConflict) this.#fastPath.backOff();
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
   * Units that are sent again, or whose record exists, conflict with the cache, which expects new records. Their people go
   * apart. False when there is none: then another replica writes to the same workspaces.
   */
  #setApartRepeated(selected: BatchUnits, outcomes: readonly UnitResult[]): boolean {
    let isFound = false;
    for (const [index, outcome] of outcomes.entries()) {
      const isNew = outcome.kind === 'applied' && outcome.mains.every(({ effect }) => effect !== null);
      const unit = selected.units[index];
      if (isNew || !unit) continue;
      isFound = true;
      this.#waiting.setApart(personOf(unit));
    }
    return isFound;
  }

  /** The change is true by now: a listener that fails must not make it look refused. */
  #tell(chunk: EntryChunk): void {
    for (const listener of this.#listeners) {
      try {
        listener(chunk);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }

  async #transaction(
    batch: Batch,
    selected: BatchUnits,
    { needs, cache }: Pick<BatchOptions, 'needs' | 'cache'>,
  ): Promise<BatchResult> {
    const options: BatchOptions = {
      needs,
      cache,
      room: batch.room,
      bounds: this.#bounds,
      lockTimeout: batch.kind === 'alone' ? LOCK_TIMEOUT : COMMON_LOCK_TIMEOUT,
      refused: this.#refused,
      onSent: () => {
        this.#places.wrote(batch);
        this.#start();
      },
    };
    return this.#fastPath.commit(selected, options, (watched) =>
      ownTransaction(this.#pool, (client) => commitBatch(client, selected, watched), batch.abandoned),
    );
  }

  // What nobody waits for any more.

  #checkAbandoned(): void {
    const now = performance.now();
    for (const request of this.#waiting.which((one) => one.isGone || now >= one.deadlineMs)) {
      this.#waiting.remove(request);
      this.#drop(request);
    }
    for (const batch of this.#places.underWay) {
      for (const { request } of batch.parts) if (request.isGone) request.rejectGone();
      const isLate = now >= batch.startedAt + LIMITS.commitBatchMs;
      const isOver = (one: CommitRequest): boolean => one.isSettled || (isLate && now >= one.deadlineMs);
      if (batch.abandonIf(isOver)) this.#watch.onCancelled?.();
    }
  }

  #drop(request: CommitRequest): void {
    this.#watch.onDropped?.(request.isGone ? 'gone' : 'overdue');
    if (request.isGone) request.rejectGone();
    else request.reject(tooMuchWaits(LIMITS.commitDeadlineMs));
  }
}

/** What is only waiting for promises and ticks happens, a connection of the pool among it; nothing is read from sockets. */
async function untilSent(): Promise<void> {
  for (let ticks = 0; ticks < 2; ticks += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
}

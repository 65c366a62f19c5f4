import type { EntryChunk } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { Semaphore } from '@wts/service-kit/call';
import { Contention } from '@wts/service-kit/fairness';
import { LOCK_TIMEOUT } from '@wts/service-kit/postgres';
import type { Pool } from 'pg';
import { explainConflict, isOutdated, retriable } from '../store/conflicts.ts';
import { ownTransaction } from '../store/pipeline.ts';
import { ArchivedWorkspaces } from '../decision/archived-workspaces.ts';
import type { BatchRules } from '../decision/batch-state.ts';
import type { Batch, BatchPart } from './batch.ts';
import { BATCHES_MAX, BatchSlots } from './batch-slots.ts';
import { commitBatch, type BatchOptions } from './commit-batch.ts';
import { CommitQueue, queueTooLong } from './commit-queue.ts';
import type { BatchUnits } from './decide-batch.ts';
import { FastPath } from './fast-path.ts';
import type { CascadeBounds } from '../decision/lookup.ts';
import { outcomesOf, readOutcomes } from './outcomes.ts';
import { predictLookups } from './predict-lookups.ts';
import { RefusalCache } from './refusal-cache.ts';
import { CommitRequest, type CommitOptions } from './request.ts';
import { traced } from './trace-batch.ts';
import { personOf, type Unit, type UnitOutcome } from '../decision/unit.ts';
import type { BatchResult, UnitResult } from './write.ts';
import { SYNC_LIMITS } from '../limits.ts';

/*
 * Mutations are committed in batches, so that many share one lock of the log and one flush to disk. While no batch is running, a
 * request starts one immediately; while one is running, requests wait and then form the next one. `commit-queue.ts` decides which
 * requests are next, `batch-slots.ts` when the next batch may start.
 *
 * Any replica may commit: the lock in PostgreSQL makes the order, not this process. A unit is acknowledged after its batch is on
 * disk and never before: keeps never.acknowledged-lost.
 *
 * No unit makes other units fail: a refusal is decided in memory (`decide-batch.ts`), and when a batch keeps failing because of a
 * lock or a constraint, the engine gives each of its requests a batch of its own.
 *
 * Keeps sync.mutate.order and sync.mutate.idempotent, never.applied-twice and never.one-takes-all.
 */

/** Tries of a batch of one request: deadlocks and races of idempotency keys end within these. An error after them is an outage. */
const TRIES_MAX = 6;
/** Tries of a batch of several requests: one from the cache, and two without. Then each request gets a batch of its own. */
const SHARED_TRIES_MAX = 3;
/** How long a batch of several requests waits for rows that other transactions have locked. */
const SHARED_LOCK_TIMEOUT = '200ms';
/** How often the engine looks for requests whose client has disconnected or whose deadline is over. */
const ABANDONED_CHECK_MS = 250;
/** How many finished batches read outcomes from the log at a time. */
const OUTCOME_READS_MAX = 1;

/** Connections that an engine needs: for each batch, to read outcomes, and to cancel a statement. */
export const COMMIT_CONNECTIONS = BATCHES_MAX + OUTCOME_READS_MAX + 1;

export interface CommitWatch {
  onBatch?(batch: { mutations: number; seconds: number }): void;
  /** Requests that the queue refused: they cannot be committed before their deadline, or the queue has no room. */
  onRefused?(requests: number): void;
  /** A request that no batch has taken: its client has disconnected, or its deadline is over. */
  onDropped?(reason: 'gone' | 'overdue'): void;
  /** A batch was cancelled, because no client waits for it any more. */
  onCancelled?(): void;
}

export interface EngineOptions {
  readonly pool: Pool;
  /** Of the cascade of one deletion or move in its own commit; a larger one is left to a sweep. */
  readonly bounds?: CascadeBounds;
  /** 0: tasks stay in the Trash forever. */
  readonly trashRetentionDays?: number;
  readonly watch?: CommitWatch;
  /** Shared with the reads of the process; by default the engine's own. */
  readonly contention?: Contention;
  /** False: every batch reads and locks what it needs (`fast-path.ts`). */
  readonly fastPath?: boolean;
}

/** A batch of several requests failed because of one of them: each gets a batch of its own. */
class BatchMustSplit extends Error {}

export class CommitEngine {
  readonly #pool: Pool;
  readonly #log: LogReader;
  readonly #watch: CommitWatch;
  readonly #rules: BatchRules;
  #onSweeps: (() => void) | undefined;
  readonly #listeners: ((chunk: EntryChunk) => void)[] = [];
  readonly #refusalCache = new RefusalCache();
  readonly #queue: CommitQueue;
  readonly #slots = new BatchSlots();
  readonly #outcomeReads = new Semaphore(OUTCOME_READS_MAX);
  readonly #fastPath: FastPath;
  #startTimer: NodeJS.Timeout | undefined;
  #abandonedCheck: NodeJS.Timeout | undefined;

  constructor({
    pool,
    watch = {},
    bounds,
    trashRetentionDays: retentionDays = 30,
    contention = new Contention(),
    fastPath = true,
  }: EngineOptions) {
    this.#pool = pool;
    this.#log = new LogReader(pool);
    this.#watch = watch;
    this.#rules = { bounds, trash: { workspaces: new ArchivedWorkspaces(pool), retentionDays } };
    this.#queue = new CommitQueue(contention);
    this.#fastPath = new FastPath(pool, fastPath);
  }

  get archivedWorkspaces(): ArchivedWorkspaces {
    return this.#rules.trash.workspaces;
  }

  /** Called with every committed batch right after its commit; the order of batches is not guaranteed. */
  onCommitted(listener: (chunk: EntryChunk) => void): void {
    this.#listeners.push(listener);
  }

  /** Called when a committed batch has added sweeps. */
  onSweeps(listener: () => void): void {
    this.#onSweeps = listener;
  }

  /**
   * Commits the units of a request in order, each independently; resolves when all are decided and on disk. Rejects with
   * `unavailable` when the deadline passes, or immediately when the queue is too long for the deadline.
   */
  async commit(units: readonly Unit[], options: CommitOptions = {}): Promise<UnitOutcome[]> {
    options.signal?.throwIfAborted();
    if (units.length === 0) return [];
    const deadlineMs = options.deadlineMs ?? performance.now() + SYNC_LIMITS.commitDeadlineMs;
    const request = new CommitRequest(units, { signal: options.signal, deadlineMs });
    try {
      const displaced = this.#queue.admit(request);
      if (displaced > 0) this.#watch.onRefused?.(displaced);
    } catch (error) {
      request.reject(error);
      this.#watch.onRefused?.(1);
    }
    this.#start();
    this.#abandonedCheck ??= setInterval(() => this.#checkAbandoned(), ABANDONED_CHECK_MS).unref();
    return request.outcomes;
  }

  get waiting(): number {
    return this.#queue.units;
  }

  get waitingBytes(): number {
    return this.#queue.bytes;
  }

  /** Starts as many batches as may start; false when none did. */
  #start(): boolean {
    clearTimeout(this.#startTimer);
    let hasStarted = false;
    while (this.#queue.units > 0) {
      const mayStart = this.#slots.mayStart({
        waiting: this.#queue.units,
        mayOverlap: this.#fastPath.cache !== null,
        hasOthers: (person) => this.#queue.hasOthers(person),
      });
      const batch = this.#queue.take(mayStart, (request) => this.#drop(request));
      if (!batch) {
        const laterMs = Math.min(this.#slots.nextStartMs ?? Infinity, this.#queue.pauseMs ?? Infinity);
        if (laterMs < Infinity) this.#startTimer = setTimeout(() => this.#start(), laterMs);
        break;
      }
      this.#slots.start(batch);
      void this.#run(batch);
      hasStarted = true;
    }
    return hasStarted;
  }

  /** Never rejects: every request of the batch is settled or waits again. */
  async #run(batch: Batch): Promise<void> {
    const startedAt = performance.now();
    const chunks: EntryChunk[] = [];
    const [committed] = await Promise.allSettled([traced(batch, chunks, () => this.#commit(batch, chunks))]);
    const ms = performance.now() - startedAt;
    this.#watch.onBatch?.({ mutations: batch.units.length, seconds: ms / 1000 });
    this.#slots.end(batch);
    const results = committed.status === 'fulfilled' ? committed.value : null;
    if (results) {
      this.#queue.recordCost(batch, results, ms);
      this.#putBack(batch, results);
    } else if (committed.status === 'rejected') this.#fail(batch, committed.reason);
    // The next batch is sent to PostgreSQL before this one is published and answered, so that PostgreSQL and Node work in parallel.
    if (this.#start()) await untilSent();
    for (const chunk of chunks) this.#publish(chunk);
    if (results) await this.#settle(batch, results);
    if (this.#slots.running.length > 0) return;
    this.#queue.onIdle();
    if (this.#queue.units > 0) return;
    clearInterval(this.#abandonedCheck);
    this.#abandonedCheck = undefined;
  }

  async #settle(batch: Batch, results: readonly UnitResult[]): Promise<void> {
    const reader = { pool: this.#pool, log: this.#log, gate: this.#outcomeReads };
    const units: Unit[] = [];
    const incomplete: UnitResult[] = [];
    const parts: { part: BatchPart; from: number; to: number }[] = [];
    // Requests whose outcomes are complete do not wait for those that need the log.
    for (const { part, first, done } of batch.settled(results)) {
      const own = batch.units.slice(first, first + done);
      const ownResults = results.slice(first, first + done);
      const complete = outcomesOf(own, ownResults);
      if (complete) {
        part.request.addOutcomes(part.from, complete);
        continue;
      }
      parts.push({ part, from: units.length, to: units.length + done });
      units.push(...own);
      incomplete.push(...ownResults);
    }
    if (parts.length === 0) return;
    try {
      const { outcomes, textRead } = await readOutcomes(units, incomplete, reader);
      for (const { part, from, to } of parts) {
        this.#queue.recordReadCost(part, textRead.slice(from, to));
        part.request.addOutcomes(part.from, outcomes.slice(from, to));
      }
    } catch (error) {
      for (const { part } of parts) part.request.reject(error);
    }
  }

  /** Requests with units left wait again, before all other requests of their people. */
  #putBack(batch: Batch, results: readonly UnitResult[]): void {
    for (const { part, done, isHeavy } of batch.settled(results)) {
      const { request } = part;
      request.unitsTaken = part.from + done;
      request.needsOwnBatch ||= isHeavy;
      if (request.unitsLeft > 0) this.#wait(request);
    }
  }

  #wait(request: CommitRequest): void {
    if (request.isAborted) this.#drop(request);
    else this.#queue.putBack(request);
  }

  #fail(batch: Batch, error: unknown): void {
    const isOverdue = batch.abandoned.aborted;
    for (const { request, from } of batch.parts) {
      if (!(error instanceof BatchMustSplit)) {
        request.reject(isOverdue ? queueTooLong(SYNC_LIMITS.commitDeadlineMs) : error);
        continue;
      }
      request.unitsTaken = from;
      request.needsOwnBatch = true;
      this.#wait(request);
    }
  }

  /** Adds committed entries to `chunks`, also when a later transaction fails. */
  async #commit(batch: Batch, chunks: EntryChunk[]): Promise<readonly UnitResult[]> {
    return batch.kind === 'one-request'
      ? this.#commitOrSplit(batch, batch, chunks)
      : this.#commitOnce(batch, batch, chunks);
  }

  /**
   * When a constraint refuses a request, which is rare because unique keys are looked up before, its halves are tried one after
   * the other, down to the unit that violates the constraint.
   */
  async #commitOrSplit(batch: Batch, selected: BatchUnits, chunks: EntryChunk[]): Promise<readonly UnitResult[]> {
    try {
      return await this.#commitOnce(batch, selected, chunks);
    } catch (error) {
      const conflict = explainConflict(error);
      if (!conflict) throw error;
      for (const person of batch.people) this.#queue.isolate(person);
      const { units, requests } = selected;
      if (units.length === 1) return [{ kind: 'refused', refusal: { ok: false, ...conflict }, weight: 1 }];
      const middle = units.length >> 1;
      const half = (from: number, to: number): BatchUnits => ({
        units: units.slice(from, to),
        requests: requests.slice(from, to),
      });
      const first = await this.#commitOrSplit(batch, half(0, middle), chunks);
      const later = first.find(({ kind }) => kind === 'later');
      if (later) return [...first, ...units.slice(middle).map(() => later)];
      return [...first, ...(await this.#commitOrSplit(batch, half(middle, units.length), chunks))];
    }
  }

  async #commitOnce(batch: Batch, selected: BatchUnits, chunks: EntryChunk[]): Promise<readonly UnitResult[]> {
    const lookups = predictLookups(selected.units);
    let hadConflict = false;
    for (let attempt = 1; ; attempt += 1) {
      batch.abandoned.throwIfAborted();
      const cache = attempt === 1 && batch.kind === 'shared' ? this.#fastPath.cache : null;
      try {
        if (!this.archivedWorkspaces.clock.isRead) await this.archivedWorkspaces.refresh();
        const { results, chunk, hasSweeps } = await this.#transaction(batch, selected, { lookups, cache });
        cache?.onSuccess();
        if (hadConflict && !this.#isolateRepeated(selected, results)) this.#fastPath.backOff();
        if (chunk) chunks.push(chunk);
        if (hasSweeps) this.#onSweeps?.();
        return results;
      } catch (error) {
        hadConflict ||= cache !== null;
        // A conflict with the cache refuses nothing: the next try reads the database.
        const maySucceed = retriable(error) || (cache !== null && explainConflict(error) !== null);
        if (isOutdated(error)) await this.archivedWorkspaces.refresh();
        if (maySucceed && attempt < (batch.kind === 'one-request' ? TRIES_MAX : SHARED_TRIES_MAX)) continue;
        if (hadConflict) this.#fastPath.backOff();
        throw this.#failureOf(batch, error, maySucceed);
      }
    }
  }

  #failureOf(batch: Batch, error: unknown, maySucceed: boolean): unknown {
    if (batch.kind !== 'one-request')
      return maySucceed || explainConflict(error) ? new BatchMustSplit('', { cause: error }) : error;
    for (const person of batch.people) this.#queue.isolate(person);
    return error;
  }

  /**
   * The fast path expects new records, so a unit that was sent before, or whose record exists, makes it fail. The people of such
   * units get batches of their own. False when there is no such unit: then another replica writes to the same workspaces.
   */
  #isolateRepeated(selected: BatchUnits, results: readonly UnitResult[]): boolean {
    let isFound = false;
    for (const [index, result] of results.entries()) {
      const isNew = result.kind === 'applied' && result.mains.every(({ effect }) => effect !== null);
      const unit = selected.units[index];
      if (isNew || !unit) continue;
      isFound = true;
      this.#queue.isolate(personOf(unit));
    }
    return isFound;
  }

  /** The batch is committed: a listener that fails must not make it look refused. */
  #publish(chunk: EntryChunk): void {
    this.archivedWorkspaces.onCommitted(chunk);
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
    { lookups, cache }: Pick<BatchOptions, 'lookups' | 'cache'>,
  ): Promise<BatchResult> {
    const options: BatchOptions = {
      lookups,
      cache,
      limits: batch.limits,
      ...this.#rules,
      lockTimeout: batch.kind === 'one-request' ? LOCK_TIMEOUT : SHARED_LOCK_TIMEOUT,
      refusalCache: this.#refusalCache,
      onSent: () => {
        this.#slots.onSent(batch);
        this.#start();
      },
    };
    return this.#fastPath.commit(selected, options, (watched) =>
      ownTransaction(this.#pool, (client) => commitBatch(client, selected, watched), batch.abandoned),
    );
  }

  /** Requests whose client has disconnected, or whose deadline is over. */
  #checkAbandoned(): void {
    const now = performance.now();
    for (const request of this.#queue.filter((one) => one.isAborted || now >= one.deadlineMs)) {
      this.#queue.remove(request);
      this.#drop(request);
    }
    for (const batch of this.#slots.running) {
      for (const { request } of batch.parts) if (request.isAborted) request.rejectAborted();
      const isLate = now >= batch.startedAt + SYNC_LIMITS.commitBatchMs;
      const isOver = (one: CommitRequest): boolean => one.isSettled || (isLate && now >= one.deadlineMs);
      if (batch.abandonIf(isOver)) this.#watch.onCancelled?.();
    }
  }

  #drop(request: CommitRequest): void {
    this.#watch.onDropped?.(request.isAborted ? 'gone' : 'overdue');
    if (request.isAborted) request.rejectAborted();
    else request.reject(queueTooLong(SYNC_LIMITS.commitDeadlineMs));
  }
}

/** Lets pending promises and ticks run, which check out a connection and send; no socket is read meanwhile. */
async function untilSent(): Promise<void> {
  for (let ticks = 0; ticks < 2; ticks += 1) await new Promise<void>((resolve) => process.nextTick(resolve));
}

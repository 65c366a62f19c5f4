import assert from 'node:assert/strict';
import type { WaitingRetry } from '../store/lanes.ts';
import { DueQueue, type Held } from './due-queue.ts';
import type { Due } from './make-attempt.ts';
import { ReadMode } from './read-mode.ts';
import { RETRIES_READ, type Reading } from './reader.ts';
import { RetryPacer } from './retry-pacer.ts';
import { RetryTimer } from './retry-timer.ts';

interface RetriesOptions {
  readonly held: Held;
  readonly atOnce: number;
  readonly paceMs: number;
  /** Called when a retry may begin, or has to be read. */
  readonly onDue: () => void;
}

/**
 * The retries of a lane: each at its time, a few at once, apart from each other. One goes from due (`begin()`) to waiting for a slot
 * (`take`) to running (`end`); then its delivery stays unrecorded until its outcome is in PostgreSQL (`recorded`).
 *
 * A reading may show a delivery as due whose attempt is under way or was recorded meanwhile, so both are left out of it.
 */
export class Retries {
  readonly #atOnce: number;
  readonly #due: DueQueue<Due>;
  readonly #read = new ReadMode();
  readonly #pacer: RetryPacer;
  readonly #next: RetryTimer;
  #waiting = 0;
  #running = 0;
  /** Deliveries under attempt, or whose outcomes are not recorded yet; also first attempts, which may become retries. */
  readonly #unrecorded = new Set<string>();
  readonly #recordedMeanwhile = new Set<string>();
  /** Those of them that were due while their attempt was under way: they are read again after it. */
  readonly #dueMeanwhile = new Set<string>();

  constructor({ held, atOnce, paceMs, onDue }: RetriesOptions) {
    this.#atOnce = atOnce;
    this.#due = new DueQueue(held);
    this.#pacer = new RetryPacer(paceMs, onDue);
    this.#next = new RetryTimer(() => {
      this.changed();
      onDue();
    });
  }

  get isIdle(): boolean {
    const isEmpty = this.#due.length === 0 && this.#unrecorded.size === 0;
    return isEmpty && this.#read.isRead && this.#waiting + this.#running === 0;
  }

  /** When the next one is due that is not yet; null for none. */
  get dueMs(): number | null {
    return this.#next.dueMs;
  }

  get needsReading(): boolean {
    return this.#read.isUnread && this.#due.length === 0 && this.#unrecorded.size < RETRIES_READ;
  }

  changed(): void {
    this.#read.changed();
  }

  beginReading(): void {
    this.#read.begin();
    this.#recordedMeanwhile.clear();
  }

  endReading({ readAtMs, retries, mayHaveMoreRetries }: Reading): void {
    this.#read.end();
    const isOutdated = (id: string): boolean => this.isUnrecorded(id) || this.#recordedMeanwhile.has(id);
    const waiting = retries.filter(({ deliveryId }) => !isOutdated(deliveryId));
    this.#due.fill(waiting.filter(isDue).map((retry) => ({ ...retry, committedMs: readAtMs - retry.ageMs })));
    const later = waiting.find((retry) => !isDue(retry));
    if (later === undefined && mayHaveMoreRetries) this.#read.changed();
    const laterMs = later === undefined ? null : performance.now() + later.dueInMs;
    if (this.#recordedMeanwhile.size === 0) this.#next.set(laterMs);
    else this.#next.setEarlier(laterMs);
  }

  failReading(): void {
    this.#read.fail();
  }

  /** Whether one more is to be made now. */
  begin(): boolean {
    const isFull = this.#waiting + this.#running >= this.#atOnce;
    if (isFull || this.#waiting >= this.#due.length || !this.#pacer.take()) return false;
    this.#waiting += 1;
    return true;
  }

  /** The next one, for the slot that `begin()` waited for; undefined when there is none any more. */
  take(): Due | undefined {
    for (;;) {
      const retry = this.#due.shift();
      if (retry === undefined || !this.isUnrecorded(retry.deliveryId)) return retry;
      this.#dueMeanwhile.add(retry.deliveryId);
    }
  }

  /** The wait for a slot is over: `end` follows, with or without an attempt. */
  endWaiting(): void {
    assert(this.#waiting > 0, 'a retry begins that did not wait');
    this.#waiting -= 1;
    this.#running += 1;
  }

  end(): void {
    assert(this.#running > 0, 'a retry ends that did not begin');
    this.#running -= 1;
  }

  /** Whether an attempt of a delivery, a first one or a retry, is under way or not recorded yet. */
  isUnrecorded(deliveryId: string): boolean {
    return this.#unrecorded.has(deliveryId);
  }

  /** An attempt begins, a first one or a retry. */
  attempted(deliveryId: string): void {
    assert(!this.isUnrecorded(deliveryId), 'an attempt of a delivery begins before the one before is recorded');
    this.#unrecorded.add(deliveryId);
  }

  /** Whatever became of its outcome. */
  recorded(deliveryId: string): void {
    this.#unrecorded.delete(deliveryId);
    if (this.#dueMeanwhile.delete(deliveryId)) this.changed();
    if (this.#read.isReading) this.#recordedMeanwhile.add(deliveryId);
  }

  /** One is due then; null for none. */
  dueAt(dueMs: number | null): void {
    this.#next.setEarlier(dueMs);
  }

  /** None is made until the endpoint is served again, which makes the lane read. */
  clear(): void {
    this.#due.clear();
  }

  close(): void {
    this.#next.close();
    this.#due.clear();
  }
}

/** Only a retry that is due is read with its text. */
function isDue(retry: WaitingRetry): retry is WaitingRetry & { readonly body: string } {
  return retry.body !== null;
}

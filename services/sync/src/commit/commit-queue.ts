import { LRUCache } from 'lru-cache';
import { Fault } from '@wts/contracts';
import {
  CalmTimes,
  FairQueue,
  SHARE,
  retryAfterSeconds,
  type Contention,
  type Eligibility,
  type QueueEntry,
} from '@wts/service-kit/fairness';
import { Batch, type BatchKind, type BatchPart } from './batch.ts';
import { WEIGHT_BYTES, type BatchLimits } from './decide-batch.ts';
import type { CommitRequest } from './request.ts';
import type { UnitResult } from './write.ts';
import { SYNC_LIMITS } from '../limits.ts';

/*
 * The requests that wait to be committed, and which of them are in the next batch. Networks take turns, and in each its people, weighed by what their changes
 * cost: a small entry of the log weighs 1. While no other person waits, one may fill whole batches.
 * A person who must yield (`Contention`) gets a quarter of a batch and of the time, and work that is heavy or has failed lately gets
 * batches of its own while others wait.
 */

/** A change with more weight than this shares no batch with changes of other people. */
const HEAVY_WEIGHT = 16;
const ISOLATED_MS = 5_000;
/** How much one batch changes the expected cost of the next: the factor of an exponential average. */
const SMOOTHING = 0.25;
/** A batch that waited for a lock counts for at most so many times the expected duration. */
const OUTLIER_FACTOR = 4;
/** Smaller batches are not measured, because the round trips of their messages take most of their time. */
const MEASURED_FROM_WEIGHT = 32;
const EXPECTED_MS = 0.2;

/** `roundsMax`: a cascade needs one round of reads for each level of records. */
const SHARED: BatchLimits = { weightMax: SYNC_LIMITS.commitBatchWeight, roundsMax: 16, hasOneRequest: false };
const OWN: BatchLimits = { weightMax: SYNC_LIMITS.commitBatchWeight, roundsMax: 24, hasOneRequest: true };

/** Whether a batch of this kind whose first request is of this person may start now. */
export type MayStart = (kind: BatchKind, person: string) => boolean;

export class CommitQueue {
  readonly #queue: FairQueue<CommitRequest>;
  readonly #weights = new LRUCache<string, number>({ max: SYNC_LIMITS.commitMemoryEntriesMax });
  readonly #isolatedUntil = new LRUCache<string, number>({ max: SYNC_LIMITS.commitMemoryEntriesMax });
  #units = 0;
  /** The expected duration of a small entry. */
  #expectedMs = EXPECTED_MS;
  readonly #calmTimes = new CalmTimes();
  readonly #contention: Contention;
  /** Of the last `take`. */
  #eligibility: Eligibility | undefined;

  constructor(contention: Contention) {
    this.#contention = contention;
    this.#queue = new FairQueue(contention.networkOf);
  }

  get units(): number {
    return this.#units;
  }

  get bytes(): number {
    return this.#queue.load.bytes;
  }

  /**
   * Throws `unavailable` when the request cannot be committed before its deadline. When there is no room, rejects the last requests
   * of the person who has the most waiting; returns how many. Keeps never.unbounded.
   */
  admit(request: CommitRequest): number {
    if (request.isSweep) {
      // One sweep runs at a time. If it waited behind all requests of its person, it would delay the sweeps of other people.
      this.#push(request, 'front');
      return 0;
    }
    const now = performance.now();
    const cost = request.units.length * this.#weightOf(request.person, request);
    const leftMs = request.deadlineMs - now;
    if ((this.#queue.load.cost + cost) * this.#expectedMs > leftMs) {
      const expectedMs = this.#queue.ahead(request.person, cost) * this.#expectedMs;
      if (expectedMs > leftMs) throw queueTooLong(expectedMs);
    }
    this.#push(request, 'behind');
    return this.#makeRoom();
  }

  /** Puts a request with units left in front of all others of its person. */
  putBack(request: CommitRequest): void {
    this.#push(request, 'front');
  }

  /** False when it does not wait. */
  remove(request: CommitRequest): boolean {
    const { entry } = request;
    if (!entry || !this.#queue.remove(entry)) return false;
    this.#onRemoved(request);
    return true;
  }

  /** The requests that match, in any order. */
  filter(matches: (request: CommitRequest) => boolean): CommitRequest[] {
    return [...this.#queue.items()].filter(matches);
  }

  /** The next batch that may start now; undefined when there is none. Drops requests whose client has disconnected. */
  take(mayStart: MayStart, drop: (request: CommitRequest) => void): Batch | undefined {
    this.#eligibility = this.#contention.eligibility();
    const { mayServe, mayServeNetwork } = this.#eligibility;
    const next = (): QueueEntry<CommitRequest> | undefined =>
      this.#queue.shift(
        (person, { item }) => mayServe(person) && mayStart(this.#kindOf(item), person),
        mayServeNetwork,
      );
    let first = next();
    for (; first && (first.item.isAborted || first.item.deadlineMs < performance.now()); first = next())
      this.#dropTaken(first.item, drop);
    if (!first) return undefined;
    const kind = this.#kindOf(first.item);
    const batch = new Batch(kind, kind === 'one-request' ? OWN : SHARED);
    this.#add(batch, first);
    while (kind !== 'one-request') {
      const next = this.#queue.shift(
        (person, { item }) => this.#fits(batch, person, item) && mayServe(person),
        mayServeNetwork,
      );
      if (!next) break;
      if (next.item.isAborted) this.#dropTaken(next.item, drop);
      else this.#add(batch, next);
    }
    return batch;
  }

  /** In how many milliseconds the first pause ends of a person whom the last `take` skipped. */
  get pauseMs(): number | undefined {
    const { soonestMs = Infinity } = this.#eligibility ?? {};
    return soonestMs === Infinity ? undefined : Math.max(soonestMs, 1);
  }

  /** Records what a batch cost, and how long it took. */
  recordCost(batch: Batch, results: readonly UnitResult[], ms: number): void {
    for (const person of batch.people) this.#contention.used(person, (ms * batch.unitsOf(person)) / batch.units.length);
    let total = 0;
    for (const { part, first, done } of batch.settled(results)) {
      let weight = 0;
      for (const result of results.slice(first, first + done))
        weight += result.kind === 'later' ? 1 : Math.max(result.weight, 1);
      total += weight;
      const { person } = part.request;
      this.#queue.charge(person, weight - part.count * part.weightEach);
      // The steps of a sweep do not predict the cost of other changes of the person.
      if (done === 0 || part.request.isSweep) continue;
      const average = this.#weights.peek(person) ?? 1;
      this.#weights.set(person, average + (weight / done - average) * SMOOTHING);
    }
    if (total < MEASURED_FROM_WEIGHT) {
      const waitedMs = this.#calmTimes.waitedMs('small', ms);
      for (const person of batch.people) this.#contention.waited(person, waitedMs);
      return;
    }
    const sample = Math.min(ms / total, this.#expectedMs * OUTLIER_FACTOR);
    this.#expectedMs += (sample - this.#expectedMs) * SMOOTHING;
  }

  /** Records how much text was read from the log for the outcomes of a part. */
  recordReadCost({ request: { person }, count }: BatchPart, textRead: readonly number[]): void {
    const weight = textRead.reduce((sum, text) => sum + text, 0) / WEIGHT_BYTES;
    if (weight === 0) return;
    this.#queue.charge(person, weight);
    this.#weights.set(person, (this.#weights.peek(person) ?? 1) + (weight / count) * SMOOTHING);
  }

  /** The person's changes made a batch fail: for some seconds they share no batch with changes of other people. */
  isolate(person: string): void {
    this.#isolatedUntil.set(person, performance.now() + ISOLATED_MS);
  }

  /** Whether requests of other people wait, or did a moment ago. */
  hasOthers(person: string): boolean {
    if (this.#queue.people > (this.#queue.of(person).size > 0 ? 1 : 0)) return true;
    return this.#contention.mustYield(person);
  }

  /** Called when no batch is running. */
  onIdle(): void {
    this.#queue.reset();
  }

  #kindOf(request: CommitRequest): BatchKind {
    if (request.needsOwnBatch) return 'one-request';
    const { person } = request;
    const isIsolated =
      (this.#isolatedUntil.peek(person) ?? 0) > performance.now() || this.#weightOf(person, request) > HEAVY_WEIGHT;
    return isIsolated && this.hasOthers(person) ? 'one-person' : 'shared';
  }

  #fits(batch: Batch, person: string, request: CommitRequest): boolean {
    const [first] = batch.parts;
    // A unit of a service reads and locks every row, also those that a caller may not see, so the two kinds share no batch.
    if (request.authority !== first?.request.authority || this.#kindOf(request) !== batch.kind) return false;
    if (batch.kind === 'one-person' && person !== first?.request.person) return false;
    const room = this.#roomFor(batch, request);
    return room >= request.unitsLeft || (room > 0 && this.hasOthers(person));
  }

  /** How many units of a request fit into the batch. */
  #roomFor(batch: Batch, request: CommitRequest): number {
    const { person } = request;
    const most = SYNC_LIMITS.commitBatchMutations;
    const mustYield = this.#contention.mustYield(person);
    const share = mustYield ? SHARE : 1;
    const own = mustYield ? batch.unitsOfNetwork(this.#contention.networkOf(person)) : batch.unitsOf(person);
    const units = Math.min(Math.ceil(most * share) - own, most - batch.units.length);
    const weight = (SYNC_LIMITS.commitBatchWeight * share) / this.#weightOf(person, request);
    return Math.min(units, Math.max(Math.floor(weight) - own, batch.units.length === 0 ? 1 : 0));
  }

  #add(batch: Batch, { item: request, cost }: QueueEntry<CommitRequest>): void {
    this.#onRemoved(request);
    if (request.unitsTaken === 0) this.#contention.waited(request.person, performance.now() - request.admittedAt);
    const weightEach = cost / request.unitsLeft;
    const count = Math.min(request.unitsLeft, Math.max(this.#roomFor(batch, request), 1));
    batch.add({ request, from: request.unitsTaken, count, weightEach }, this.#contention.networkOf(request.person));
    request.unitsTaken += count;
    // The rest is charged when a later batch takes it.
    if (request.unitsLeft > 0) this.#queue.charge(request.person, -weightEach * request.unitsLeft);
  }

  #push(request: CommitRequest, place: 'front' | 'behind'): void {
    const cost = request.unitsLeft * this.#weightOf(request.person, request);
    request.entry = this.#queue.push(request.person, request, { cost, bytes: request.bytes, place });
    this.#units += request.unitsLeft;
  }

  #dropTaken(request: CommitRequest, drop: (request: CommitRequest) => void): void {
    this.#onRemoved(request);
    drop(request);
  }

  #onRemoved(request: CommitRequest): void {
    request.entry = null;
    this.#units -= request.unitsLeft;
  }

  #makeRoom(): number {
    for (let refused = 0; ; refused += 1) {
      const isCrowded = this.#units > SYNC_LIMITS.commitQueueMutationsMax;
      if (!isCrowded && this.bytes <= SYNC_LIMITS.commitQueueBytesMax) return refused;
      const last = this.#queue.lastOfHeaviest(({ cost, bytes }) => (isCrowded ? cost : bytes));
      if (!last) return refused;
      this.remove(last.item);
      last.item.reject(queueTooLong(this.#queue.ahead(last.person, last.cost) * this.#expectedMs));
    }
  }

  /** The expected weight of a unit: the average of this person's units, and at least the weight of its text. */
  #weightOf(person: string, { bytes, units }: CommitRequest): number {
    return Math.max(this.#weights.peek(person) ?? 1, bytes / units.length / WEIGHT_BYTES);
  }
}

export function queueTooLong(expectedMs: number): Fault {
  return new Fault('unavailable', {
    message: 'Too many changes are waiting; try again shortly',
    retryAfterSeconds: retryAfterSeconds(expectedMs),
  });
}

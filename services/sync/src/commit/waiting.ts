import { BoundedMap } from '@wts/access';
import { Fault, LIMITS } from '@wts/contracts';
import { FairQueue, type QueueEntry } from '../fairness/fair-queue.ts';
import { retryAfterSeconds, SHARE } from '../fairness/fair-gate.ts';
import { RecentPeople } from '../fairness/recent-people.ts';
import { Batch, type BatchKind, type Part } from './batch.ts';
import { WEIGHT_BYTES, type Room } from './decide-batch.ts';
import type { CommitRequest } from './request.ts';
import type { UnitResult } from './write.ts';

/*
 * What waits to be committed, and what goes next. People take turns, weighed by what their changes cost: a small entry of
 * the log weighs 1. As long as others come too, one person has a quarter of a batch at most, and work that is heavy or failed
 * lately goes in batches of its own; one who is alone fills whole batches.
 */

/** So much more than a small entry, and a change goes apart from those of others. */
const HEAVY_WEIGHT = 16;
const APART_MS = 5_000;
/** How much one batch moves what the next is expected to cost. */
const LEARNED = 0.25;
/** An odd batch, one that waited for a lock, is taken for no more than so many times the usual. */
const ODD = 4;
/** How long a person rests at most after a batch: one that took longer waited for a lock. */
const REST_MS_MAX = 20;
/** Smaller batches take as long as their messages do. */
const LEARNED_FROM_WEIGHT = 32;
const EXPECTED_MS = 0.2;

/** A cascade needs a round of reading for each level. */
const SHARED: Room = { weightMax: LIMITS.commitBatchWeight, roundsMax: 16, isAlone: false };
const OWN: Room = { weightMax: LIMITS.commitBatchWeight, roundsMax: 24, isAlone: true };

/** Whether a batch of this kind that begins with work of this person may set out now. */
export type MayStart = (kind: BatchKind, person: string) => boolean;

export class Waiting {
  readonly #queue = new FairQueue<CommitRequest>();
  readonly #weights = new BoundedMap<string, number>(LIMITS.commitMemoryEntriesMax);
  readonly #apartUntil = new BoundedMap<string, number>(LIMITS.commitMemoryEntriesMax);
  #units = 0;
  /** Of a small entry. */
  #expectedMs = EXPECTED_MS;
  readonly #recent = new RecentPeople();
  readonly #restsUntil = new BoundedMap<string, number>(LIMITS.commitMemoryEntriesMax);
  /** When the first of those may go on who were passed over because they rest. */
  #restedAt = Infinity;

  get units(): number {
    return this.#units;
  }

  get bytes(): number {
    return this.#queue.load.bytes;
  }

  /**
   * Throws `unavailable` when it cannot be done in time. When there is no room, what came last of the person with the most
   * makes some. Gives how many were refused for it. Keeps never.unbounded.
   */
  admit(request: CommitRequest): number {
    this.#recent.note(request.person);
    if (request.isSweep) {
      // One sweep is worked at a time: behind all that its person sent, it would hold up the sweeps of others.
      this.#push(request, 'front');
      return 0;
    }
    const now = performance.now();
    const cost = request.units.length * this.#weightOf(request.person, request);
    const leftMs = request.deadlineMs - now;
    if ((this.#queue.load.cost + cost) * this.#expectedMs > leftMs) {
      const expectedMs = this.#queue.ahead(request.person, cost) * this.#expectedMs;
      if (expectedMs > leftMs) throw tooMuchWaits(expectedMs);
    }
    this.#push(request, 'behind');
    return this.#makeRoom();
  }

  /** What is left of a request after a part of it, before all else of its person. */
  putBack(request: CommitRequest): void {
    this.#push(request, 'front');
  }

  /** True when it waited. */
  remove(request: CommitRequest): boolean {
    const { entry } = request;
    if (!entry || !this.#queue.remove(entry)) return false;
    this.#taken(request);
    return true;
  }

  /** Those of which it holds, in no promised order. */
  which(holds: (request: CommitRequest) => boolean): CommitRequest[] {
    return [...this.#queue.items()].filter(holds);
  }

  /** The next batch, of what may start now; undefined when there is none. What nobody waits for is dropped. */
  take(mayStart: MayStart, drop: (request: CommitRequest) => void): Batch | undefined {
    this.#restedAt = Infinity;
    const next = (): QueueEntry<CommitRequest> | undefined =>
      this.#queue.shift((person, { item }) => !this.#rests(person) && mayStart(this.#kindOf(item), person));
    let first = next();
    for (; first && (first.item.isGone || first.item.deadlineMs < performance.now()); first = next()) {
      this.#takeOut(first.item, drop);
    }
    if (!first) return undefined;
    const kind = this.#kindOf(first.item);
    const batch = new Batch(kind, kind === 'alone' ? OWN : SHARED);
    this.#add(batch, first);
    while (kind !== 'alone') {
      const next = this.#queue.shift((person, { item }) => this.#fits(batch, person, item));
      if (!next) break;
      if (next.item.isGone) this.#takeOut(next.item, drop);
      else this.#add(batch, next);
    }
    return batch;
  }

  /** In how many milliseconds the first of those has rested who were passed over by the last `take`. */
  get restMs(): number | undefined {
    return this.#restedAt === Infinity ? undefined : Math.max(this.#restedAt - performance.now(), 1);
  }

  /** What a batch cost, and how long it took. */
  learn(batch: Batch, outcomes: readonly UnitResult[], ms: number): void {
    this.#letRest(batch, ms);
    let total = 0;
    for (const { part, first, done } of batch.settled(outcomes)) {
      let weight = 0;
      for (const outcome of outcomes.slice(first, first + done)) {
        weight += outcome.kind === 'later' ? 1 : Math.max(outcome.weight, 1);
      }
      total += weight;
      const { person } = part.request;
      this.#queue.charge(person, weight - part.count * part.weightEach);
      // The steps of a sweep say nothing about the other changes of their person.
      if (done === 0 || part.request.isSweep) continue;
      const known = this.#weights.get(person) ?? 1;
      this.#weights.set(person, known + (weight / done - known) * LEARNED);
    }
    if (total < LEARNED_FROM_WEIGHT) return;
    const sample = Math.min(ms / total, this.#expectedMs * ODD);
    this.#expectedMs += (sample - this.#expectedMs) * LEARNED;
  }

  /** What was read from the log to answer a part. */
  learnAnswer({ request: { person }, count }: Part, textRead: readonly number[]): void {
    const weight = textRead.reduce((sum, text) => sum + text, 0) / WEIGHT_BYTES;
    if (weight === 0) return;
    this.#queue.charge(person, weight);
    this.#weights.set(person, (this.#weights.get(person) ?? 1) + (weight / count) * LEARNED);
  }

  /** Its changes made trouble for others: for some seconds they go apart. */
  setApart(person: string): void {
    this.#apartUntil.set(person, performance.now() + APART_MS);
  }

  /** Whether anyone else waits, or came a moment ago. */
  hasOthers(person: string): boolean {
    if (this.#queue.people > (this.#queue.of(person).size > 0 ? 1 : 0)) return true;
    return this.#recent.hasOthers(person);
  }

  /** Nothing is under way. */
  rest(): void {
    this.#queue.reset();
  }

  /**
   * Who had more than a quarter of a batch while others came lets as much time pass as it took, the more the larger the part:
   * beside one batch after another of one person, everybody else would wait for processors as well.
   */
  #letRest(batch: Batch, ms: number): void {
    for (const person of batch.people) {
      const above = (batch.taken(person) / batch.units.length - SHARE) / (1 - SHARE);
      if (above <= 0 || !this.hasOthers(person)) continue;
      this.#restsUntil.set(person, performance.now() + Math.min(ms, REST_MS_MAX) * above);
    }
  }

  #rests(person: string): boolean {
    const until = this.#restsUntil.get(person) ?? 0;
    if (until <= performance.now()) return false;
    this.#restedAt = Math.min(this.#restedAt, until);
    return true;
  }

  #kindOf(request: CommitRequest): BatchKind {
    if (request.isAlone) return 'alone';
    const { person } = request;
    const isApart =
      (this.#apartUntil.get(person) ?? 0) > performance.now() || this.#weightOf(person, request) > HEAVY_WEIGHT;
    return isApart && this.hasOthers(person) ? 'apart' : 'common';
  }

  #fits(batch: Batch, person: string, request: CommitRequest): boolean {
    const [first] = batch.parts;
    // For a service every row is read and held, also one that a caller only guessed at.
    if (request.authority !== first?.request.authority || this.#kindOf(request) !== batch.kind) return false;
    if (batch.kind === 'apart' && person !== first?.request.person) return false;
    if (this.#rests(person)) return false;
    const room = this.#roomOf(batch, request);
    return room >= request.rest || (room > 0 && this.hasOthers(person));
  }

  /** Units of a request that there is room for. */
  #roomOf(batch: Batch, request: CommitRequest): number {
    const { person } = request;
    const most = LIMITS.commitBatchMutations;
    const share = this.hasOthers(person) ? SHARE : 1;
    const units = Math.min(Math.ceil(most * share) - batch.taken(person), most - batch.units.length);
    const weight = (LIMITS.commitBatchWeight * share) / this.#weightOf(person, request);
    return Math.min(units, Math.max(Math.floor(weight) - batch.taken(person), batch.units.length === 0 ? 1 : 0));
  }

  #add(batch: Batch, { item: request, cost }: QueueEntry<CommitRequest>): void {
    this.#taken(request);
    const weightEach = cost / request.rest;
    const count = Math.min(request.rest, Math.max(this.#roomOf(batch, request), 1));
    batch.add({ request, from: request.taken, count, weightEach });
    request.taken += count;
    // It pays for what is left when that is taken.
    if (request.rest > 0) this.#queue.charge(request.person, -weightEach * request.rest);
  }

  #push(request: CommitRequest, place: 'front' | 'behind'): void {
    const cost = request.rest * this.#weightOf(request.person, request);
    request.entry = this.#queue.push(request.person, request, { cost, bytes: request.bytes, place });
    this.#units += request.rest;
  }

  #takeOut(request: CommitRequest, drop: (request: CommitRequest) => void): void {
    this.#taken(request);
    drop(request);
  }

  #taken(request: CommitRequest): void {
    request.entry = null;
    this.#units -= request.rest;
  }

  #makeRoom(): number {
    for (let refused = 0; ; refused += 1) {
      const isCrowded = this.#units > LIMITS.commitQueueMutationsMax;
      if (!isCrowded && this.bytes <= LIMITS.commitQueueBytesMax) return refused;
      const last = this.#queue.lastOfHeaviest(({ cost, bytes }) => (isCrowded ? cost : bytes));
      if (!last) return refused;
      this.remove(last.item);
      last.item.reject(tooMuchWaits(this.#queue.ahead(last.person, last.cost) * this.#expectedMs));
    }
  }

  /** What a unit of this person is expected to weigh: as those before it, or at least what it carries. */
  #weightOf(person: string, { bytes, units }: CommitRequest): number {
    return Math.max(this.#weights.get(person) ?? 1, bytes / units.length / WEIGHT_BYTES);
  }
}

export function tooMuchWaits(expectedMs: number): Fault {
  return new Fault('unavailable', {
    message: 'Too many changes are waiting; try again shortly',
    retryAfterSeconds: retryAfterSeconds(expectedMs),
  });
}

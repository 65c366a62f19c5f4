import assert from 'node:assert/strict';
import { DueQueue, type Held } from './due-queue.ts';
import type { Due } from './make-attempt.ts';
import { ReadMode } from './read-mode.ts';
import type { Reading } from './reader.ts';

/**
 * The first attempts of a lane: one after the other, in the order of their sequence.
 *
 * - `free`: none is under way. `begin()` leads to `waiting`, when one is due.
 * - `waiting`: the next one waits for a slot. `take` leads to `running`, or gives none when nothing may begin.
 * - `running`: one is under way.
 *
 * `end` leads back to `free` from both. Keeps webhooks.order.commit.
 */
export class FirstAttempts {
  readonly #due: DueQueue<Due>;
  readonly #read = new ReadMode();
  #mode: 'free' | 'waiting' | 'running' = 'free';
  /** The sequence of the last one that began; 0 when they are read from the start. */
  #lastSequence = 0;
  /** First attempts under way, or whose outcomes are not recorded yet. */
  #unrecorded = 0;

  constructor(held: Held) {
    this.#due = new DueQueue(held);
  }

  get isIdle(): boolean {
    return this.#mode === 'free' && this.#read.isRead && this.#due.length === 0 && this.#unrecorded === 0;
  }

  /** When the event of the next one was committed; null when none is due. */
  get oldestCommittedMs(): number | null {
    return this.#due.first?.committedMs ?? null;
  }

  /** From the start only when all are recorded, because one that is not recorded would be found, and made, once more. */
  get needsReading(): boolean {
    const mayRead = this.#lastSequence > 0 || this.#unrecorded === 0;
    return this.#read.isUnread && this.#due.length === 0 && mayRead;
  }

  changed(): void {
    this.#read.changed();
  }

  /** Returns the sequence behind which they are read. */
  beginReading(): number {
    assert(this.needsReading, 'first attempts are read that need no reading');
    this.#read.begin();
    return this.#lastSequence;
  }

  endReading({ readAtMs, firsts, hasMoreFirsts }: Reading, after: number): void {
    this.#read.end();
    // They are to be read from the start since the reading began.
    if (after !== this.#lastSequence) return this.#read.changed();
    if (firsts.length > 0) this.#due.fill(firsts.map((first) => ({ ...first, committedMs: readAtMs - first.ageMs })));
    if (hasMoreFirsts) this.#read.changed();
  }

  failReading(): void {
    this.#read.fail();
  }

  /** Whether the next one is to be made now. */
  begin(): boolean {
    if (this.#mode !== 'free' || this.#due.length === 0) return false;
    this.#mode = 'waiting';
    return true;
  }

  /** The next one, for the slot that `begin()` waited for; undefined when there is none any more. */
  take(): Due | undefined {
    assert.equal(this.#mode, 'waiting', 'a first attempt begins beside another one');
    const first = this.#due.shift();
    if (first === undefined) return undefined;
    assert(first.sequence > this.#lastSequence, 'a first attempt begins behind a later one');
    this.#mode = 'running';
    this.#lastSequence = first.sequence;
    this.#unrecorded += 1;
    return first;
  }

  end(): void {
    assert.notEqual(this.#mode, 'free', 'a first attempt ends that did not begin');
    this.#mode = 'free';
  }

  /** Whatever became of the outcome of one. */
  recorded(): void {
    assert(this.#unrecorded > 0, 'a first attempt is recorded that did not begin');
    this.#unrecorded -= 1;
  }

  /** A delivery that is not behind the last sequence is due for its first attempt once more. */
  restart(): void {
    this.#due.clear();
    this.#lastSequence = 0;
    this.#read.changed();
  }

  /** None is made until the endpoint is served again, which makes the lane read. */
  clear(): void {
    this.#due.clear();
  }
}

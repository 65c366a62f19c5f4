/** An item that waits, and its person. */
export interface QueueEntry<T> {
  readonly person: string;
  readonly item: T;
  /** Above 0, in any unit: how much this takes from other people when it is served. */
  readonly cost: number;
  readonly bytes: number;
}

/** Sums over the entries of one person, or of all. */
export interface Load {
  readonly size: number;
  readonly cost: number;
  readonly bytes: number;
}

interface Pushing {
  readonly cost?: number;
  readonly bytes?: number;
  readonly place?: 'front' | 'behind';
}

interface Link<T> extends QueueEntry<T> {
  readonly queue: PersonQueue<T>;
  before: Link<T> | null;
  behind: Link<T> | null;
  isWaiting: boolean;
}

/** The entries of one person. */
interface PersonQueue<T> {
  readonly person: string;
  /** The round at which its first entry starts; queues are served in this order. */
  start: number;
  /** Orders queues with the same start by arrival. */
  sequence: number;
  index: number;
  first: Link<T> | null;
  last: Link<T> | null;
  size: number;
  cost: number;
  bytes: number;
}

/** People without entries whose last round is stored; those idle longest are removed first. */
const IDLE_MAX = 1000;

/**
 * A queue that serves the entries of each person in order, and people round robin, weighted by cost: a person whose entries
 * cost 100 is served once while one whose entries cost 1 is served a hundred times.
 *
 * Rounds are counted in cost (start-time fair queueing): an entry starts where the previous entry of the same person ended,
 * or at the current round, whichever is later. So the past use of a person counts while others compete, and idle time gives
 * no priority over others. Each operation takes time logarithmic in the number of people who wait.
 */
export class FairQueue<T> {
  /** The end of the last entry of people without entries, when it is ahead of the round. */
  readonly #idle = new Map<string, number>();
  readonly #queues = new Map<string, PersonQueue<T>>();
  /** A heap by `start`, then `sequence`. */
  readonly #heap: PersonQueue<T>[] = [];
  #round = 0;
  #sequence = 0;
  #size = 0;
  #cost = 0;
  #bytes = 0;

  get size(): number {
    return this.#size;
  }

  get load(): Load {
    return { size: this.#size, cost: this.#cost, bytes: this.#bytes };
  }

  /** People with entries. */
  get people(): number {
    return this.#queues.size;
  }

  /** People in memory, those without entries included. */
  get peopleStored(): number {
    return this.#queues.size + this.#idle.size;
  }

  of(person: string): Load {
    return this.#queues.get(person) ?? NOTHING;
  }

  /** All items, in no particular order. */
  *items(): Iterable<T> {
    for (const { first } of this.#queues.values()) {
      for (let link = first; link; link = link.behind) yield link.item;
    }
  }

  /** Adds an entry behind those of this person, or in front of them. */
  push(person: string, item: T, { cost = 1, bytes = 0, place = 'behind' }: Pushing = {}): QueueEntry<T> {
    const queue = this.#queues.get(person) ?? this.#open(person);
    const [before, behind] = place === 'behind' ? [queue.last, null] : [null, queue.first];
    const link: Link<T> = { person, item, cost, bytes, queue, before, behind, isWaiting: true };
    if (before) before.behind = link;
    else queue.first = link;
    if (behind) behind.before = link;
    else queue.last = link;
    this.#weigh(queue, link, 1);
    return link;
  }

  /** Removes and returns the next entry, of the people for whom `mayServe` is true. The others keep their turns. */
  shift(mayServe: (person: string, first: QueueEntry<T>) => boolean = () => true): QueueEntry<T> | undefined {
    const skipped: PersonQueue<T>[] = [];
    let found: Link<T> | undefined;
    for (let queue = this.#heap[0]; queue; queue = this.#heap[0]) {
      const first = queue.first as Link<T>;
      if (mayServe(queue.person, first)) {
        found = first;
        break;
      }
      this.#takeOut(queue);
      skipped.push(queue);
    }
    for (const queue of skipped) this.#putIn(queue);
    if (!found) return undefined;
    const { queue } = found;
    this.#round = Math.max(this.#round, queue.start);
    queue.start += found.cost;
    queue.sequence = this.#sequence += 1;
    this.#unlink(found);
    return found;
  }

  /** Removes an entry that has not been served, at no cost for its person; false when it was served. */
  remove(entry: QueueEntry<T>): boolean {
    const link = entry as Link<T>;
    if (!link.isWaiting) return false;
    this.#unlink(link);
    return true;
  }

  /** Corrects the cost of what was served for this person, up or down. */
  charge(person: string, more: number): void {
    const queue = this.#queues.get(person);
    if (queue) {
      queue.start = Math.max(queue.start + more, 0);
      this.#settle(queue.index);
    } else this.#keepIdle(person, Math.max((this.#idle.get(person) ?? this.#round) + more, 0));
  }

  /** The cost that would be served before a new entry of this person: of each other person no more than of this one. */
  ahead(person: string, cost: number): number {
    const own = this.#queues.get(person);
    const start = own?.start ?? Math.max(this.#round, this.#idle.get(person) ?? 0);
    const end = start + (own?.cost ?? 0) + cost;
    let ahead = own?.cost ?? 0;
    for (const queue of this.#heap) {
      if (queue === own || queue.start >= end) continue;
      ahead += Math.min(queue.cost, Math.max(end - queue.start, (queue.first as Link<T>).cost));
    }
    return ahead;
  }

  /** The last entry of the person with the largest weight; of equals, of the one who is served last. */
  lastOfHeaviest(weight: (load: Load) => number): QueueEntry<T> | undefined {
    let heaviest: PersonQueue<T> | undefined;
    for (const queue of this.#heap) {
      const more = heaviest ? weight(queue) - weight(heaviest) : 1;
      if (more > 0 || (more === 0 && heaviest && isBefore(heaviest, queue))) heaviest = queue;
    }
    return heaviest?.last ?? undefined;
  }

  /** Forgets the past use of people. Called when nothing is being served any more. */
  reset(): void {
    if (this.#size > 0) return;
    this.#idle.clear();
    this.#round = 0;
  }

  #open(person: string): PersonQueue<T> {
    const start = Math.max(this.#round, this.#idle.get(person) ?? 0);
    this.#idle.delete(person);
    const sequence = (this.#sequence += 1);
    const queue = { person, start, sequence, index: -1, first: null, last: null, size: 0, cost: 0, bytes: 0 };
    this.#queues.set(person, queue);
    this.#putIn(queue);
    return queue;
  }

  #unlink(link: Link<T>): void {
    const { queue, before, behind } = link;
    if (before) before.behind = behind;
    else queue.first = behind;
    if (behind) behind.before = before;
    else queue.last = before;
    // Because otherwise each served entry would keep the next one in memory until a full garbage collection.
    link.before = link.behind = null;
    link.isWaiting = false;
    this.#weigh(queue, link, -1);
    if (queue.first) this.#settle(queue.index);
    else {
      this.#takeOut(queue);
      this.#queues.delete(queue.person);
      this.#keepIdle(queue.person, queue.start);
    }
  }

  #weigh(queue: PersonQueue<T>, { cost, bytes }: QueueEntry<T>, sign: 1 | -1): void {
    queue.size += sign;
    queue.cost += sign * cost;
    queue.bytes += sign * bytes;
    this.#size += sign;
    this.#cost += sign * cost;
    this.#bytes += sign * bytes;
  }

  #keepIdle(person: string, start: number): void {
    this.#idle.delete(person);
    if (start > this.#round) this.#idle.set(person, start);
    const [longest] = this.#idle.size > IDLE_MAX ? this.#idle.keys() : [];
    if (longest !== undefined) this.#idle.delete(longest);
  }

  // The heap.

  #putIn(queue: PersonQueue<T>): void {
    queue.index = this.#heap.push(queue) - 1;
    this.#settle(queue.index);
  }

  #takeOut(queue: PersonQueue<T>): void {
    const { index } = queue;
    const last = this.#heap.pop() as PersonQueue<T>;
    queue.index = -1;
    if (last === queue) return;
    this.#set(index, last);
    this.#settle(index);
  }

  #set(index: number, queue: PersonQueue<T>): void {
    this.#heap[index] = queue;
    queue.index = index;
  }

  #settle(from: number): void {
    const heap = this.#heap;
    const queue = heap[from] as PersonQueue<T>;
    let index = from;
    for (
      let above = heap[(index - 1) >> 1];
      index > 0 && above && isBefore(queue, above);
      above = heap[(index - 1) >> 1]
    ) {
      this.#set(index, above);
      index = (index - 1) >> 1;
    }
    for (;;) {
      const [left, right] = [heap[index * 2 + 1], heap[index * 2 + 2]];
      const below = right && left && isBefore(right, left) ? right : left;
      if (!below || !isBefore(below, queue)) break;
      const next = below.index;
      this.#set(index, below);
      index = next;
    }
    this.#set(index, queue);
  }
}

const NOTHING: Load = { size: 0, cost: 0, bytes: 0 };

function isBefore(one: PersonQueue<unknown>, other: PersonQueue<unknown>): boolean {
  return one.start < other.start || (one.start === other.start && one.sequence < other.sequence);
}

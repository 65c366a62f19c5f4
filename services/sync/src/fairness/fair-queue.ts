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
  readonly lane: Lane<T>;
  before: Link<T> | null;
  behind: Link<T> | null;
  isWaiting: boolean;
}

/** The entries of one person. */
interface Lane<T> {
  readonly person: string;
  /** The round at which its first entry starts; lanes are served in this order. */
  start: number;
  /** Orders lanes with the same start by arrival. */
  turn: number;
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
  readonly #lanes = new Map<string, Lane<T>>();
  /** A heap by `start`, then `turn`. */
  readonly #heap: Lane<T>[] = [];
  #round = 0;
  #turns = 0;
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
    return this.#lanes.size;
  }

  /** People in memory, those without entries included. */
  get peopleStored(): number {
    return this.#lanes.size + this.#idle.size;
  }

  of(person: string): Load {
    return this.#lanes.get(person) ?? NOTHING;
  }

  /** All items, in no particular order. */
  *items(): Iterable<T> {
    for (const { first } of this.#lanes.values()) {
      for (let link = first; link; link = link.behind) yield link.item;
    }
  }

  /** Adds an entry behind those of this person, or in front of them. */
  push(person: string, item: T, { cost = 1, bytes = 0, place = 'behind' }: Pushing = {}): QueueEntry<T> {
    const lane = this.#lanes.get(person) ?? this.#open(person);
    const [before, behind] = place === 'behind' ? [lane.last, null] : [null, lane.first];
    const link: Link<T> = { person, item, cost, bytes, lane, before, behind, isWaiting: true };
    if (before) before.behind = link;
    else lane.first = link;
    if (behind) behind.before = link;
    else lane.last = link;
    this.#weigh(lane, link, 1);
    return link;
  }

  /** Removes and returns the next entry, of the people for whom `mayServe` is true. The others keep their turns. */
  shift(mayServe: (person: string, first: QueueEntry<T>) => boolean = () => true): QueueEntry<T> | undefined {
    const skipped: Lane<T>[] = [];
    let found: Link<T> | undefined;
    for (let lane = this.#heap[0]; lane; lane = this.#heap[0]) {
      const first = lane.first as Link<T>;
      if (mayServe(lane.person, first)) {
        found = first;
        break;
      }
      this.#takeOut(lane);
      skipped.push(lane);
    }
    for (const lane of skipped) this.#putIn(lane);
    if (!found) return undefined;
    const { lane } = found;
    this.#round = Math.max(this.#round, lane.start);
    lane.start += found.cost;
    lane.turn = this.#turns += 1;
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
    const lane = this.#lanes.get(person);
    if (lane) {
      lane.start = Math.max(lane.start + more, 0);
      this.#settle(lane.index);
    } else this.#keepIdle(person, Math.max((this.#idle.get(person) ?? this.#round) + more, 0));
  }

  /** The cost that would be served before a new entry of this person: of each other person no more than of this one. */
  ahead(person: string, cost: number): number {
    const own = this.#lanes.get(person);
    const start = own?.start ?? Math.max(this.#round, this.#idle.get(person) ?? 0);
    const end = start + (own?.cost ?? 0) + cost;
    let ahead = own?.cost ?? 0;
    for (const lane of this.#heap) {
      if (lane === own || lane.start >= end) continue;
      ahead += Math.min(lane.cost, Math.max(end - lane.start, (lane.first as Link<T>).cost));
    }
    return ahead;
  }

  /** The last entry of the person with the largest weight; of equals, of the one who is served last. */
  lastOfHeaviest(weight: (load: Load) => number): QueueEntry<T> | undefined {
    let heaviest: Lane<T> | undefined;
    for (const lane of this.#heap) {
      const more = heaviest ? weight(lane) - weight(heaviest) : 1;
      if (more > 0 || (more === 0 && heaviest && isBefore(heaviest, lane))) heaviest = lane;
    }
    return heaviest?.last ?? undefined;
  }

  /** Forgets the past use of people. Called when nothing is being served any more. */
  reset(): void {
    if (this.#size > 0) return;
    this.#idle.clear();
    this.#round = 0;
  }

  #open(person: string): Lane<T> {
    const start = Math.max(this.#round, this.#idle.get(person) ?? 0);
    this.#idle.delete(person);
    const turn = (this.#turns += 1);
    const lane = { person, start, turn, index: -1, first: null, last: null, size: 0, cost: 0, bytes: 0 };
    this.#lanes.set(person, lane);
    this.#putIn(lane);
    return lane;
  }

  #unlink(link: Link<T>): void {
    const { lane, before, behind } = link;
    if (before) before.behind = behind;
    else lane.first = behind;
    if (behind) behind.before = before;
    else lane.last = before;
    // Because otherwise each served entry would keep the next one in memory until a full garbage collection.
    link.before = link.behind = null;
    link.isWaiting = false;
    this.#weigh(lane, link, -1);
    if (lane.first) this.#settle(lane.index);
    else {
      this.#takeOut(lane);
      this.#lanes.delete(lane.person);
      this.#keepIdle(lane.person, lane.start);
    }
  }

  #weigh(lane: Lane<T>, { cost, bytes }: QueueEntry<T>, sign: 1 | -1): void {
    lane.size += sign;
    lane.cost += sign * cost;
    lane.bytes += sign * bytes;
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

  #putIn(lane: Lane<T>): void {
    lane.index = this.#heap.push(lane) - 1;
    this.#settle(lane.index);
  }

  #takeOut(lane: Lane<T>): void {
    const { index } = lane;
    const last = this.#heap.pop() as Lane<T>;
    lane.index = -1;
    if (last === lane) return;
    this.#set(index, last);
    this.#settle(index);
  }

  #set(index: number, lane: Lane<T>): void {
    this.#heap[index] = lane;
    lane.index = index;
  }

  #settle(from: number): void {
    const heap = this.#heap;
    const lane = heap[from] as Lane<T>;
    let index = from;
    for (
      let above = heap[(index - 1) >> 1];
      index > 0 && above && isBefore(lane, above);
      above = heap[(index - 1) >> 1]
    ) {
      this.#set(index, above);
      index = (index - 1) >> 1;
    }
    for (;;) {
      const [left, right] = [heap[index * 2 + 1], heap[index * 2 + 2]];
      const below = right && left && isBefore(right, left) ? right : left;
      if (!below || !isBefore(below, lane)) break;
      const next = below.index;
      this.#set(index, below);
      index = next;
    }
    this.#set(index, lane);
  }
}

const NOTHING: Load = { size: 0, cost: 0, bytes: 0 };

function isBefore(one: Lane<unknown>, other: Lane<unknown>): boolean {
  return one.start < other.start || (one.start === other.start && one.turn < other.turn);
}

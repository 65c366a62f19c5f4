/** What waits, and for whom. */
export interface Entry<T> {
  readonly person: string;
  readonly item: T;
  /** In any unit, above 0: what this takes from the others when it is served. */
  readonly cost: number;
  readonly bytes: number;
}

/** Of one person, or of all. */
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

interface Link<T> extends Entry<T> {
  readonly lane: Lane<T>;
  before: Link<T> | null;
  behind: Link<T> | null;
  isWaiting: boolean;
}

/** What waits for one person. */
interface Lane<T> {
  readonly person: string;
  /** At which round its first entry begins; lanes are served in this order. */
  start: number;
  /** Which of two lanes that start alike came first. */
  turn: number;
  place: number;
  first: Link<T> | null;
  last: Link<T> | null;
  size: number;
  cost: number;
  bytes: number;
}

/** People who wait for nothing, whose last turns are remembered; the ones that are idle longest are forgotten first. */
const IDLE_MAX = 1000;

/**
 * Waiting work of many people: in order for each person, and served round robin by person, weighed by cost. A person whose
 * entries cost 100 is served once while one whose entries cost 1 is served a hundred times.
 *
 * Rounds are counted in cost (start-time fair queueing): an entry starts where the one before it of the same person ended,
 * or where the queue is, whichever is later. So what a person took in the past weighs on that person while others compete,
 * and no idle person saves up a right to be served before all others. Each operation takes time in the logarithm of
 * the people who wait.
 */
export class FairQueue<T> {
  /** Where people who wait for nothing left off, if that is ahead of the round. */
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

  /** How many people wait. */
  get people(): number {
    return this.#lanes.size;
  }

  /** How many people it knows, those included who wait for nothing. */
  get peopleKnown(): number {
    return this.#lanes.size + this.#idle.size;
  }

  of(person: string): Load {
    return this.#lanes.get(person) ?? NOTHING;
  }

  /** All that waits, in no promised order. */
  *items(): Iterable<T> {
    for (const { first } of this.#lanes.values()) {
      for (let link = first; link; link = link.behind) yield link.item;
    }
  }

  /** Behind what waits for this person, or before it. */
  push(person: string, item: T, { cost = 1, bytes = 0, place = 'behind' }: Pushing = {}): Entry<T> {
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

  /** The entry whose turn it is, taken out; of the people for whom `mayServe` holds. The others keep their turns. */
  shift(mayServe: (person: string, first: Entry<T>) => boolean = () => true): Entry<T> | undefined {
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

  /** Takes an entry out that has not been served; false when it was. Costs its person nothing. */
  remove(entry: Entry<T>): boolean {
    const link = entry as Link<T>;
    if (!link.isWaiting) return false;
    this.#unlink(link);
    return true;
  }

  /** What was served turned out to cost so much more, or less, than was said. */
  charge(person: string, more: number): void {
    const lane = this.#lanes.get(person);
    if (lane) {
      lane.start = Math.max(lane.start + more, 0);
      this.#settle(lane.place);
    } else this.#rest(person, Math.max((this.#idle.get(person) ?? this.#round) + more, 0));
  }

  /** Cost that is served before an entry of this person that would come now: others get no more than the person until then. */
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

  /** The entry that makes least difference to a fair share: the last of the person with the most; of equals, who is served last. */
  lastOfHeaviest(weight: (load: Load) => number): Entry<T> | undefined {
    let heaviest: Lane<T> | undefined;
    for (const lane of this.#heap) {
      const more = heaviest ? weight(lane) - weight(heaviest) : 1;
      if (more > 0 || (more === 0 && heaviest && isBefore(heaviest, lane))) heaviest = lane;
    }
    return heaviest?.last ?? undefined;
  }

  /** For when nothing is being served any more: what people took before then no longer counts. */
  reset(): void {
    if (this.#size > 0) return;
    this.#idle.clear();
    this.#round = 0;
  }

  #open(person: string): Lane<T> {
    const start = Math.max(this.#round, this.#idle.get(person) ?? 0);
    this.#idle.delete(person);
    const turn = (this.#turns += 1);
    const lane = { person, start, turn, place: -1, first: null, last: null, size: 0, cost: 0, bytes: 0 };
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
    // Otherwise each entry that was served would keep the next one in memory until a full collection of garbage.
    link.before = link.behind = null;
    link.isWaiting = false;
    this.#weigh(lane, link, -1);
    if (lane.first) this.#settle(lane.place);
    else {
      this.#takeOut(lane);
      this.#lanes.delete(lane.person);
      this.#rest(lane.person, lane.start);
    }
  }

  #weigh(lane: Lane<T>, { cost, bytes }: Entry<T>, sign: 1 | -1): void {
    lane.size += sign;
    lane.cost += sign * cost;
    lane.bytes += sign * bytes;
    this.#size += sign;
    this.#cost += sign * cost;
    this.#bytes += sign * bytes;
  }

  #rest(person: string, start: number): void {
    this.#idle.delete(person);
    if (start > this.#round) this.#idle.set(person, start);
    const [longest] = this.#idle.size > IDLE_MAX ? this.#idle.keys() : [];
    if (longest !== undefined) this.#idle.delete(longest);
  }

  // The heap.

  #putIn(lane: Lane<T>): void {
    lane.place = this.#heap.push(lane) - 1;
    this.#settle(lane.place);
  }

  #takeOut(lane: Lane<T>): void {
    const { place } = lane;
    const last = this.#heap.pop() as Lane<T>;
    lane.place = -1;
    if (last === lane) return;
    this.#set(place, last);
    this.#settle(place);
  }

  #set(place: number, lane: Lane<T>): void {
    this.#heap[place] = lane;
    lane.place = place;
  }

  #settle(from: number): void {
    const heap = this.#heap;
    const lane = heap[from] as Lane<T>;
    let place = from;
    for (
      let above = heap[(place - 1) >> 1];
      place > 0 && above && isBefore(lane, above);
      above = heap[(place - 1) >> 1]
    ) {
      this.#set(place, above);
      place = (place - 1) >> 1;
    }
    for (;;) {
      const [left, right] = [heap[place * 2 + 1], heap[place * 2 + 2]];
      const below = right && left && isBefore(right, left) ? right : left;
      if (!below || !isBefore(below, lane)) break;
      const next = below.place;
      this.#set(place, below);
      place = next;
    }
    this.#set(place, lane);
  }
}

const NOTHING: Load = { size: 0, cost: 0, bytes: 0 };

function isBefore(one: Lane<unknown>, other: Lane<unknown>): boolean {
  return one.start < other.start || (one.start === other.start && one.turn < other.turn);
}

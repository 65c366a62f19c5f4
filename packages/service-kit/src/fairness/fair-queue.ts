import { eachAlone, type NetworkOf } from './caller-networks.ts';
import { isBefore, Turns, type Turn } from './turns.ts';

/** An item that waits, and its person. */
export interface QueueEntry<T> {
  readonly person: string;
  readonly item: T;
  /** Above 0, in any unit: how much this takes from other people when it is served. */
  readonly cost: number;
  readonly bytes: number;
}

/** Sums over the entries of one person, of one network, or of all. */
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

type Sums = { -readonly [K in keyof Load]: Load[K] };

/** The people of one network who have entries. */
interface Network<T> extends Turn {
  readonly name: string;
  readonly people: Turns<PersonQueue<T>>;
  readonly load: Sums;
  /** The start of the latest entry served in this network. */
  round: number;
}

/** The entries of one person. */
interface PersonQueue<T> extends Turn {
  readonly person: string;
  /** The network at the first of its entries. */
  readonly network: Network<T>;
  readonly load: Sums;
  first: Link<T> | null;
  last: Link<T> | null;
}

/** People and networks without entries whose last round is stored; those kept first are removed first. */
const IDLE_MAX = 1000;

/**
 * A queue that serves the entries of each person in order; networks round robin, and the people of a network round robin, weighted
 * by cost: who has entries that cost 100 is served once while one whose entries cost 1 is served a hundred times.
 *
 * Rounds are counted in cost (start-time fair queueing, at both levels): an entry starts where the previous entry of the same person
 * ended, or at the current round, whichever is later. So the past use of a person counts while others compete, and idle time gives
 * no priority over others. Each operation takes time logarithmic in the number of people who wait.
 */
export class FairQueue<T> {
  readonly #networkOf: NetworkOf;
  /** Those with entries. */
  readonly #people = new Map<string, PersonQueue<T>>();
  readonly #networks = new Map<string, Network<T>>();
  /**
   * Those without, whose last entry ended ahead of the round; in the order in which they were kept. Maps, because a cache allocates
   * all its places at once, which costs more than everything else of a queue that becomes empty with each request.
   */
  readonly #idlePeople = new Map<string, PersonQueue<T>>();
  readonly #idleNetworks = new Map<string, Network<T>>();
  readonly #turns = new Turns<Network<T>>();
  readonly #load = noLoad();
  #round = 0;
  #sequence = 0;

  constructor(networkOf: NetworkOf = eachAlone) {
    this.#networkOf = networkOf;
  }

  get size(): number {
    return this.#load.size;
  }

  get load(): Load {
    return { ...this.#load };
  }

  /** People with entries. */
  get people(): number {
    return this.#people.size;
  }

  /** People and networks in memory, those without entries included. */
  get stored(): { readonly people: number; readonly networks: number } {
    return {
      people: this.#people.size + this.#idlePeople.size,
      networks: this.#networks.size + this.#idleNetworks.size,
    };
  }

  /**
   * The network with which a person takes turns. It stays the same while the person is ahead of its round, because otherwise who calls
   * from several networks alternately would start anew with each call.
   */
  networkOf(person: string): string {
    const queue = this.#people.get(person) ?? this.#idlePeople.get(person);
    if (!queue) return this.#networkOf(person);
    const { first, start, network } = queue;
    const isAhead = start > network.round && (network.load.size > 0 || network.start > this.#round);
    return first || isAhead ? network.name : this.#networkOf(person);
  }

  of(person: string): Load {
    return this.#people.get(person)?.load ?? NOTHING;
  }

  /** All items, in no particular order. */
  *items(): Iterable<T> {
    for (const { first } of this.#people.values()) {
      for (let link = first; link; link = link.behind) yield link.item;
    }
  }

  /** Adds an entry behind those of this person, or in front of them. */
  push(person: string, item: T, { cost = 1, bytes = 0, place = 'behind' }: Pushing = {}): QueueEntry<T> {
    const queue = this.#queueOf(person);
    if (!queue.first) this.#open(queue);
    const [before, behind] = place === 'behind' ? [queue.last, null] : [null, queue.first];
    const link: Link<T> = { person, item, cost, bytes, queue, before, behind, isWaiting: true };
    if (before) before.behind = link;
    else queue.first = link;
    if (behind) behind.before = link;
    else queue.last = link;
    this.#weigh(queue, link, 1);
    return link;
  }

  /**
   * Removes and returns the next entry, of the people and networks for which these are true. The others keep their turns. A network
   * that may not be served is skipped without a look at its people, who may be many.
   */
  shift(
    mayServe: (person: string, first: QueueEntry<T>) => boolean = () => true,
    mayServeNetwork: (network: string) => boolean = () => true,
  ): QueueEntry<T> | undefined {
    const found = this.#turns.find(({ name, people }) =>
      mayServeNetwork(name)
        ? people.find(({ person, first }) => (first && mayServe(person, first) ? first : undefined))
        : undefined,
    );
    if (found) this.serve(found);
    return found;
  }

  /** Removes an entry as if its turn had come. */
  serve(entry: QueueEntry<T>): void {
    const link = entry as Link<T>;
    const { queue, cost } = link;
    const { network } = queue;
    this.#round = Math.max(this.#round, network.start);
    network.round = Math.max(network.round, queue.start);
    for (const turn of [network, queue]) {
      turn.start += cost;
      turn.sequence = this.#sequence += 1;
    }
    this.#unlink(link);
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
    const queue = this.#queueOf(person);
    for (const turn of [queue.network, queue]) turn.start = Math.max(turn.start + more, 0);
    this.#settle(queue);
  }

  /** The cost that would be served before a new entry of this person: of each other network, and person, no more than of this one. */
  ahead(person: string, cost: number): number {
    const own = this.#queueOf(person);
    const { network } = own;
    const end = own.start + own.load.cost + cost;
    let ahead = own.load.cost;
    for (const other of network.people) if (other !== own) ahead += servedUntil(end, other, other.first);
    let ofOthers = 0;
    for (const other of this.#turns) {
      if (other !== network) ofOthers += servedUntil(network.start + ahead + cost, other, other.people.first?.first);
    }
    return ahead + ofOthers;
  }

  /** The last entry of the heaviest person of the heaviest network; of equals, of the one who is served last. */
  lastOfHeaviest(weight: (load: Load) => number): QueueEntry<T> | undefined {
    const network = heaviestOf(this.#turns, weight);
    return (network && heaviestOf(network.people, weight)?.last) ?? undefined;
  }

  /** Forgets the past use of people. Called when nothing is being served any more. */
  reset(): void {
    if (this.size > 0) return;
    this.#idlePeople.clear();
    this.#idleNetworks.clear();
    this.#round = 0;
  }

  /** With entries, idle, or new. */
  #queueOf(person: string): PersonQueue<T> {
    const own = this.#people.get(person);
    if (own) return own;
    const name = this.networkOf(person);
    const network = this.#networks.get(name) ?? this.#idleNetworks.get(name) ?? newNetwork(name);
    if (network.load.size === 0) network.start = Math.max(network.start, this.#round);
    const idle = this.#idlePeople.get(person);
    // Of a network that was removed from memory in between, or of another one, the rounds are not comparable.
    const queue = idle?.network === network ? idle : newQueue(person, network);
    queue.start = Math.max(queue.start, network.round);
    return queue;
  }

  #open(queue: PersonQueue<T>): void {
    const { network, person } = queue;
    this.#idlePeople.delete(person);
    this.#people.set(person, queue);
    if (network.load.size === 0) {
      this.#idleNetworks.delete(network.name);
      this.#networks.set(network.name, network);
      network.sequence = this.#sequence += 1;
      this.#turns.add(network);
    }
    queue.sequence = this.#sequence += 1;
    network.people.add(queue);
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
    const { network, person } = queue;
    if (!queue.first) {
      network.people.remove(queue);
      this.#people.delete(person);
    }
    if (network.load.size === 0) {
      this.#turns.remove(network);
      this.#networks.delete(network.name);
    }
    this.#settle(queue);
  }

  /** Puts a person and their network where their starts belong. Those without entries are stored only while they are ahead. */
  #settle(queue: PersonQueue<T>): void {
    const { network, person } = queue;
    if (queue.first) network.people.settle(queue);
    else if (queue.start > network.round) keepIdle(this.#idlePeople, person, queue);
    else this.#idlePeople.delete(person);
    if (network.load.size > 0) this.#turns.settle(network);
    else if (network.start > this.#round) keepIdle(this.#idleNetworks, network.name, network);
    else this.#idleNetworks.delete(network.name);
  }

  #weigh(queue: PersonQueue<T>, { cost, bytes }: QueueEntry<T>, sign: 1 | -1): void {
    for (const load of [queue.load, queue.network.load, this.#load]) {
      load.size += sign;
      load.cost += sign * cost;
      load.bytes += sign * bytes;
    }
  }
}

const NOTHING: Load = noLoad();

function noLoad(): Sums {
  return { size: 0, cost: 0, bytes: 0 };
}

/** Of too many, the one that was kept first is forgotten. */
function keepIdle<V>(idle: Map<string, V>, name: string, value: V): void {
  idle.delete(name);
  idle.set(name, value);
  if (idle.size > IDLE_MAX) for (const first of idle.keys()) return void idle.delete(first);
}

function newNetwork<T>(name: string): Network<T> {
  return { name, people: new Turns(), load: noLoad(), start: 0, round: 0, sequence: 0, index: -1 };
}

function newQueue<T>(person: string, network: Network<T>): PersonQueue<T> {
  return { person, network, start: 0, sequence: 0, index: -1, first: null, last: null, load: noLoad() };
}

/** How much of another's load is served until a round. What begins is served whole. */
function servedUntil(
  end: number,
  { start, load }: Turn & { readonly load: Load },
  first: { readonly cost: number } | null | undefined,
): number {
  return start >= end ? 0 : Math.min(load.cost, Math.max(end - start, first?.cost ?? 0));
}

function heaviestOf<T extends Turn & { readonly load: Load }>(
  turns: Iterable<T>,
  weight: (load: Load) => number,
): T | undefined {
  let heaviest: T | undefined;
  for (const turn of turns) {
    const more = heaviest ? weight(turn.load) - weight(heaviest.load) : 1;
    if (more > 0 || (more === 0 && heaviest && isBefore(heaviest, turn))) heaviest = turn;
  }
  return heaviest;
}

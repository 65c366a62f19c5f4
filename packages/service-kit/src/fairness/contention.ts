import { LRUCache } from 'lru-cache';
import { eachAlone, type NetworkOf } from './caller-networks.ts';

/** The part of a resource that one person may have while others wait for it. */
export const SHARE = 1 / 4;
/** A shorter wait does not count, because no person notices it. */
const WAIT_MS_MAX = 5;
/** How long such a wait counts: a person who waits again does so within this time. */
const WAIT_COUNTS_MS = 250;
/** After this time half as much of a use counts. */
const HALF_LIFE_MS = 500;
/** One yields to those who used less than this part of what they used, so equals never yield to each other. */
const LIGHTER = 1 / 2;
/** Time that one may use before the share applies, so that small requests are never paused. */
const BURST_MS = 25;
/** The longest time that one piece of work counts, because a longer one also waited for something else. */
const WORK_MS_MAX = 25;
/** People and networks whose use is stored, and people whose wait is; the oldest is removed first. */
const USES_MAX = 1000;
const WAITING_MAX = 64;

/** Whether a queue may serve a person, or anyone of a network, now. */
export interface Eligibility {
  readonly mayServe: (person: string) => boolean;
  readonly mayServeNetwork: (network: string) => boolean;
  /** The milliseconds until the first pause of a person who was refused ends. */
  readonly soonestMs: number;
}

interface Use {
  readonly ms: number;
  readonly at: number;
  /** When the share will have made up for what was used while yielding. */
  readonly paidAt: number;
}

interface LeastUses {
  readonly ofNetworks: number;
  readonly ofPeople: ReadonlyMap<string, number>;
  at: number;
}

const NO_USE: Use = { ms: 0, at: 0, paidAt: 0 };

/** What people, or networks, used of a process. */
class Uses {
  readonly #uses = new LRUCache<string, Use>({ max: USES_MAX });

  at(name: string, now: number): number {
    const { ms, at } = this.#uses.peek(name) ?? NO_USE;
    return ms * 2 ** ((at - now) / HALF_LIFE_MS);
  }

  add(name: string, ms: number, { now, isYielding }: { readonly now: number; readonly isYielding: boolean }): void {
    const { paidAt } = this.#uses.peek(name) ?? NO_USE;
    this.#uses.set(name, {
      ms: this.at(name, now) + ms,
      at: now,
      paidAt: isYielding ? Math.max(now, paidAt) + ms / SHARE : paidAt,
    });
  }

  pauseMs(name: string, now: number): number {
    return (this.#uses.peek(name) ?? NO_USE).paidAt - BURST_MS / SHARE - now;
  }
}

/**
 * Tells who must yield: a network that used much of a process while the work of one that used less waited for it, and in a network a
 * person likewise. Only such a wait slows people down, to a quarter of the time; so who is among idle neighbors has everything, and
 * busy people who use about the same never pause each other, because turns already give each of them a part.
 */
export class Contention {
  readonly networkOf: NetworkOf;
  readonly #people = new Uses();
  readonly #networks = new Uses();
  /** When each of these people noticed a wait; the latest is last. */
  readonly #waits = new Map<string, number>();
  /** The least use of a network, and in each network of a person, of those who waited; on the clock of the computation. */
  #least: LeastUses = { ofNetworks: Infinity, ofPeople: new Map(), at: -Infinity };

  constructor(networkOf: NetworkOf = eachAlone) {
    this.networkOf = networkOf;
  }

  /** Counts time that was used for this person. */
  used(person: string, ms: number): void {
    const now = performance.now();
    const network = this.networkOf(person);
    const counted = Math.min(ms, WORK_MS_MAX);
    const [isNetworkYielding, isYielding] = [
      this.#networkYields(network, now),
      this.#personYields(person, network, now),
    ];
    this.#networks.add(network, counted, { now, isYielding: isNetworkYielding });
    this.#people.add(person, counted, { now, isYielding });
  }

  /** Counts a wait of this person for something that others had. */
  waited(person: string, ms: number): void {
    if (ms <= WAIT_MS_MAX) return;
    this.#waits.delete(person);
    this.#waits.set(person, performance.now());
    const [oldest] = this.#waits.size > WAITING_MAX ? this.#waits.keys() : [];
    if (oldest !== undefined) this.#waits.delete(oldest);
    this.#least.at = -Infinity;
  }

  /** Whether someone else, or another network, waited a moment ago and used less. */
  mustYield(person: string): boolean {
    if (this.#waits.size === 0) return false;
    const now = performance.now();
    const network = this.networkOf(person);
    return this.#networkYields(network, now) || this.#personYields(person, network, now);
  }

  /** The same of a network: whether all of its people must yield. */
  networkMustYield(network: string): boolean {
    return this.#waits.size > 0 && this.#networkYields(network, performance.now());
  }

  /** How long this person is still paused; 0 or less when they are not. */
  pauseMs(person: string): number {
    if (this.#waits.size === 0) return 0;
    const now = performance.now();
    const network = this.networkOf(person);
    const pauseMs = this.#people.pauseMs(person, now);
    const ofPerson = pauseMs > 0 && this.#personYields(person, network, now) ? pauseMs : 0;
    return Math.max(this.networkPauseMs(network), Math.min(ofPerson, WAIT_COUNTS_MS));
  }

  /** How long all people of this network are still paused. */
  networkPauseMs(network: string): number {
    if (this.#waits.size === 0) return 0;
    const now = performance.now();
    const pauseMs = this.#networks.pauseMs(network, now);
    return pauseMs > 0 && this.#networkYields(network, now) ? Math.min(pauseMs, WAIT_COUNTS_MS) : 0;
  }

  /** For one pass over the people who wait. */
  eligibility(): Eligibility {
    let soonestMs = Infinity;
    const isOver = (pauseMs: number): boolean => {
      if (pauseMs > 0) soonestMs = Math.min(soonestMs, pauseMs);
      return pauseMs <= 0;
    };
    return {
      mayServe: (person) => isOver(this.pauseMs(person)),
      mayServeNetwork: (network) => isOver(this.networkPauseMs(network)),
      get soonestMs() {
        return soonestMs;
      },
    };
  }

  #networkYields(network: string, now: number): boolean {
    return this.#networks.at(network, now) * LIGHTER > this.#leastUses(now).ofNetworks;
  }

  /**
   * To a colleague who used less, or to another network. What a person used counts in each network from which they call, because
   * otherwise one who calls from several alternately would yield only by what they used in one of them.
   */
  #personYields(person: string, network: string, now: number): boolean {
    const { ofNetworks, ofPeople } = this.#leastUses(now);
    return this.#people.at(person, now) * LIGHTER > Math.min(ofNetworks, ofPeople.get(network) ?? Infinity);
  }

  /** Without a wait that counts, all are Infinity. Computed once a millisecond, because it visits all who waited. */
  #leastUses(now: number): LeastUses {
    if (now - this.#least.at < 1) return this.#least;
    let ofNetworks = Infinity;
    const ofPeople = new Map<string, number>();
    for (const [person, at] of this.#waits) {
      if (now - at > WAIT_COUNTS_MS) {
        this.#waits.delete(person);
        continue;
      }
      const network = this.networkOf(person);
      const own = this.#people.at(person, now);
      ofNetworks = Math.min(ofNetworks, Math.max(own, this.#networks.at(network, now)));
      ofPeople.set(network, Math.min(ofPeople.get(network) ?? Infinity, own));
    }
    return (this.#least = { ofNetworks, ofPeople, at: now });
  }
}

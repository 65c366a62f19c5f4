import { LRUCache } from 'lru-cache';

/** Returns the network of a person. Networks take turns, and the people of a network take turns within it. */
export type NetworkOf = (person: string) => string;

/** Each person is a network of their own, so all people take turns as equals. */
export const eachAlone: NetworkOf = (person) => person;

/** People whose network is stored. The one written first is removed first, and is written again with their next call. */
const PEOPLE_MAX = 20_000;
/** After this time without a call from another network, all callers count as one network, and people take turns as equals. */
const SEVERAL_MS = 60_000;

/**
 * The network from which each person called last. The gateway decides what a network is (`client-address.ts`) and names it beside
 * the internal token, and a service passes it on with the calls that it makes for that person. A person belongs to one network
 * at a time, so who calls from many networks has one share and not many.
 */
export class CallerNetworks {
  readonly #networks = new LRUCache<string, string>({ max: PEOPLE_MAX });
  #latest: string | undefined;
  #changedAt = -Infinity;

  /** Called with the header of each call; a call without it changes nothing. */
  record(person: string, network: string | string[] | undefined): void {
    if (typeof network !== 'string') return;
    if (this.#networks.peek(person) !== network) this.#networks.set(person, network);
    if (this.#latest === network) return;
    if (this.#latest !== undefined) this.#changedAt = performance.now();
    this.#latest = network;
  }

  find(person: string): string | undefined {
    return this.#networks.peek(person);
  }

  /**
   * For queues. When all callers have one address, as behind a proxy that is not in TRUSTED_PROXIES, networks divide nothing, so each
   * person counts alone.
   */
  readonly of: NetworkOf = (person) => {
    const network = this.#networks.peek(person);
    return network !== undefined && performance.now() - this.#changedAt < SEVERAL_MS ? `network ${network}` : person;
  };
}

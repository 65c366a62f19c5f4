import { BoundedMap } from '@wts/access';

/** People whose network is stored. The one written first is removed first, and is written again with their next call. */
const PEOPLE_MAX = 20_000;

/**
 * The network from which each person called last. The gateway decides what a network is (`client-address.ts`) and names it beside
 * the internal token, and a service passes it on with the calls that it makes for that person. A person belongs to one network
 * at a time, so who calls from many networks has one share and not many.
 */
export class CallerNetworks {
  readonly #networks = new BoundedMap<string, string>(PEOPLE_MAX);

  /** Called with the header of each call; a call without it changes nothing. */
  record(person: string, network: string | string[] | undefined): void {
    if (typeof network === 'string' && this.#networks.get(person) !== network) this.#networks.set(person, network);
  }

  find(person: string): string | undefined {
    return this.#networks.get(person);
  }
}

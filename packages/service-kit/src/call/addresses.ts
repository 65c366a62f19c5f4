import { Fault } from '@wts/contracts';
import { Pool } from 'undici';
import type { Logger } from '../observe/logger.ts';

/** One address of a service, with how it has been doing. */
export interface Address {
  readonly origin: URL;
  readonly pool: Pool;
  /** Failures in a row, and until when the address is passed over because of them. */
  failures: number;
  restsUntil: number;
}

export interface AddressesOptions {
  /** The service, for the log. */
  readonly name: string;
  readonly urls: readonly string[];
  readonly log: Logger;
  /** Calls under way or waiting, to all addresses. Above it waiting would only grow. */
  readonly underWayMax: number;
  /** To each address. */
  readonly connections: number;
  readonly connectTimeoutMs: number;
  /** 0: whoever calls has a deadline of their own. */
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
}

/** First rest of an address that failed; each further one is twice as long, up to the second figure. */
export const REST_MS = 500;
export const REST_MS_MAX = 10_000;

/**
 * The addresses of one service: taken in turn, and passed over for a while after a failure (nobody probes; the next call
 * after the while does). When all rest, the one whose rest ends first is tried anyway, so a service that came back is
 * found at once.
 */
export class Addresses {
  readonly name: string;
  readonly #all: readonly Address[];
  readonly #log: Logger;
  readonly #underWayMax: number;
  #underWay = 0;
  #next = 0;

  constructor(options: AddressesOptions) {
    const { name, urls, log, underWayMax, connections, connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs } = options;
    if (urls.length === 0) throw new Error(`${name} has no address`);
    this.name = name;
    this.#log = log;
    this.#underWayMax = underWayMax;
    this.#all = urls.map((text) => {
      const origin = new URL(text);
      const pool = new Pool(origin.origin, {
        connections,
        pipelining: 1,
        allowH2: false,
        connect: { timeout: connectTimeoutMs },
        headersTimeout: headersTimeoutMs,
        bodyTimeout: bodyTimeoutMs,
      });
      return { origin, pool, failures: 0, restsUntil: 0 };
    });
  }

  get count(): number {
    return this.#all.length;
  }

  /** The next address to try; null when `tried` holds them all. */
  pick(tried: ReadonlySet<Address> | null = null, now = performance.now()): Address | null {
    let resting: Address | null = null;
    for (let step = 0; step < this.#all.length; step += 1) {
      const address = this.#all[(this.#next + step) % this.#all.length] as Address;
      if (tried?.has(address)) continue;
      if (address.restsUntil <= now) {
        this.#next = (this.#next + step + 1) % this.#all.length;
        return address;
      }
      if (resting === null || address.restsUntil < resting.restsUntil) resting = address;
    }
    return resting;
  }

  /** Lets the address rest. Failures while it rests are those of calls that were already on their way to it. */
  failed(address: Address, cause: unknown, now = performance.now()): void {
    if (now < address.restsUntil) return;
    address.restsUntil = now + Math.min(REST_MS * 2 ** address.failures, REST_MS_MAX);
    address.failures += 1;
    if (address.failures > 1) return;
    this.#log.warn({ peer: this.name, origin: address.origin.origin, err: cause }, 'a service does not answer');
  }

  answered(address: Address): void {
    if (address.failures === 0) return;
    address.failures = 0;
    address.restsUntil = 0;
    this.#log.info({ peer: this.name, origin: address.origin.origin }, 'a service answers again');
  }

  /** Takes a place among the calls under way; every `enter` has its `leave`. */
  enter(): void {
    if (this.#underWay >= this.#underWayMax) throw new Fault('unavailable');
    this.#underWay += 1;
  }

  leave(): void {
    this.#underWay -= 1;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ pool }) => pool.destroy()));
  }
}

import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Fault, LIMITS, meta } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import { Address, probeHealth } from './address.ts';

/** All IP addresses of a name. */
type LookUp = (name: string) => Promise<readonly LookupAddress[]>;

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
  /** How often names are looked up again. */
  readonly refreshMs?: number;
  readonly lookUp?: LookUp;
  readonly watch?: Partial<Watch>;
}

/**
 * How long an address may be silent while it has something to do, how long it may take to show a sign of life, how long it
 * may show none until its sockets are given up, how often to look.
 */
interface Watch {
  readonly quietMs: number;
  readonly probeMs: number;
  readonly goneMs: number;
  readonly everyMs: number;
}

/** First rest of an address that failed; each further one is twice as long, up to the second figure. */
export const BACKOFF_MS = 500;
export const BACKOFF_MS_MAX = 10_000;

/** One of the configured URLs, and the processes it stands for. */
interface Source {
  readonly url: URL;
  readonly isName: boolean;
  addresses: Address[];
  isAsked: boolean;
}

/**
 * The processes of one service: every address behind every name counts as one of its own, because behind a name there may
 * be any number of replicas, and a connection that stays open would bind a caller to one of them. Names are looked up again
 * every few seconds; a look-up that fails or finds nothing changes nothing. `getaddrinfo` answers, and not a DNS server:
 * only it knows /etc/hosts and the search domains by which a cluster names its services.
 *
 * The address with the fewest calls under way is taken, in turn where several have as few, so one that hangs is given little
 * more than others finish. One that failed, or was silent for long while calls waited, is passed over while there are
 * others, and asked for its `/health` in growing intervals: no caller's request finds out. When all are passed over, the
 * one that rested longest is tried anyway, so a service that came back is found at once. Keeps never.one-frozen.
 */
export class Addresses {
  readonly name: string;
  readonly #options: AddressesOptions;
  readonly #watch: Watch;
  readonly #sources: readonly Source[];
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #leaving = new Set<Address>();
  #all: readonly Address[] = [];
  #underWay = 0;
  #next = 0;
  #isClosed = false;

  constructor(options: AddressesOptions) {
    const { name, urls, refreshMs = LIMITS.addressRefreshMs, watch } = options;
    if (urls.length === 0) throw new Error(`${name} has no address`);
    this.name = name;
    this.#options = options;
    this.#watch = {
      quietMs: LIMITS.addressQuietMs,
      probeMs: LIMITS.addressProbeMs,
      goneMs: LIMITS.addressGoneMs,
      everyMs: LIMITS.addressWatchMs,
      ...watch,
    };
    this.#sources = urls.map((text) => {
      const url = new URL(text);
      // Until it is looked up a name counts as one address.
      const addresses = [new Address(url, null, options)];
      return { url, isName: isIP(hostOf(url)) === 0, addresses, isAsked: false };
    });
    this.#gather();
    this.#refresh();
    this.#timers = [
      setInterval(() => this.#refresh(), refreshMs).unref(),
      setInterval(() => this.#look(), this.#watch.everyMs).unref(),
    ];
  }

  get count(): number {
    return this.#all.length;
  }

  /** The address to try next; null when `tried` holds them all. */
  pick(tried: ReadonlySet<Address> | null = null, load: (address: Address) => number = requestsOf): Address | null {
    const all = this.#all;
    let best: Address | null = null;
    let resting: Address | null = null;
    let at = 0;
    for (let step = 0; step < all.length; step += 1) {
      const index = (this.#next + step) % all.length;
      const address = all[index] as Address;
      if (tried?.has(address)) continue;
      if (address.failures > 0 || address.isProbed) {
        if (resting === null || address.backoffUntil < resting.backoffUntil) resting = address;
      } else if (best === null || load(address) < load(best)) {
        best = address;
        at = index;
      }
    }
    if (best !== null) this.#next = (at + 1) % all.length;
    return best ?? resting;
  }

  /**
   * A request goes to this address; what is returned is called when it is over. `onLost` is called when the address shows
   * no sign of life while the request waits for its answer.
   */
  begin(address: Address, onLost?: () => void): () => void {
    if (isIdle(address)) address.quietSince = performance.now();
    address.underWay += 1;
    if (onLost !== undefined) address.onLost.add(onLost);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      address.underWay -= 1;
      if (onLost !== undefined) address.onLost.delete(onLost);
    };
  }

  /** A socket stands at this address; what is returned is called when it is over. */
  beginSocket(address: Address, onGone: () => void): () => void {
    address.sockets += 1;
    address.onGone.add(onGone);
    return () => {
      address.sockets -= 1;
      address.onGone.delete(onGone);
    };
  }

  /** Lets the address rest. Failures while it rests are those of calls that were already on their way to it. */
  failed(address: Address, cause: unknown, now = performance.now()): void {
    if (now < address.backoffUntil) return;
    address.backoffUntil = now + Math.min(BACKOFF_MS * 2 ** address.failures, BACKOFF_MS_MAX);
    address.failures += 1;
    if (address.failures > 1) return;
    address.failingSince = now;
    this.#options.log.warn({ peer: this.name, origin: address.name, err: cause }, 'a service does not answer');
    // Its name may stand for another one by now.
    this.#refresh();
  }

  answered(address: Address): void {
    address.quietSince = performance.now();
    if (address.failures === 0) return;
    address.failures = 0;
    address.backoffUntil = 0;
    this.#options.log.info({ peer: this.name, origin: address.name }, 'a service answers again');
  }

  /** Takes a place among the calls under way; every `enter` has its `leave`. */
  enter(): void {
    if (this.#underWay >= this.#options.underWayMax) throw new Fault('unavailable');
    this.#underWay += 1;
  }

  leave(): void {
    this.#underWay -= 1;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([...this.#all, ...this.#leaving].map(({ pool }) => pool.destroy()));
  }

  #refresh(): void {
    for (const source of this.#sources) if (source.isName && !source.isAsked) void this.#ask(source);
  }

  async #ask(source: Source): Promise<void> {
    const { lookUp = lookUpByTheSystem, log } = this.#options;
    source.isAsked = true;
    try {
      const found = await lookUp(hostOf(source.url));
      if (found.length > 0 && !this.#isClosed) this.#follow(source, found.slice(0, LIMITS.addressesOfNameMax));
    } catch (err) {
      log.debug({ peer: this.name, origin: source.url.origin, err }, 'a name could not be looked up');
    } finally {
      source.isAsked = false;
    }
  }

  /** Addresses that stay keep what is known of them; those that left end what they have begun. */
  #follow(source: Source, found: readonly LookupAddress[]): void {
    const known = new Map(source.addresses.map((address) => [address.ip, address]));
    const next = found.map((one) => known.get(one.address) ?? new Address(source.url, one, this.#options));
    const isSame = next.length === source.addresses.length && next.every((one) => source.addresses.includes(one));
    if (isSame) return;
    const left = source.addresses.filter((address) => !next.includes(address));
    source.addresses = [...new Set(next)];
    this.#gather();
    for (const address of left) this.#retire(address);
    this.#options.log.info(
      { peer: this.name, origin: source.url.origin, addresses: source.addresses.map(({ ip }) => ip) },
      'a service has other addresses',
    );
  }

  /** It is watched on for as long as it has something to do. */
  #retire(address: Address): void {
    this.#leaving.add(address);
    address.pool.close().catch(() => undefined);
  }

  #gather(): void {
    this.#all = this.#sources.flatMap(({ addresses }) => addresses);
  }

  /** Asks for a sign of life where there was none for long, and where the rest of one that failed is over. */
  #look(): void {
    const now = performance.now();
    for (const address of this.#leaving) if (isIdle(address)) this.#leaving.delete(address);
    for (const address of [...this.#all, ...this.#leaving]) {
      const isDue =
        address.failures > 0
          ? now >= address.backoffUntil
          : !isIdle(address) && now - address.quietSince >= this.#watch.quietMs;
      if (isDue && !address.isProbed) void this.#probe(address);
    }
  }

  async #probe(address: Address): Promise<void> {
    address.isProbed = true;
    try {
      await probeHealth(address, meta.health.path, this.#watch.probeMs);
      this.answered(address);
    } catch (cause) {
      if (this.#isClosed) return;
      this.failed(address, cause);
      // A process that stops takes no connections any more and ends what it has begun.
      if ((cause as NodeJS.ErrnoException).code === 'ECONNREFUSED') return;
      for (const lose of address.onLost) lose();
      if (performance.now() - address.failingSince < this.#watch.goneMs) return;
      for (const end of address.onGone) end();
    } finally {
      address.isProbed = false;
    }
  }
}

/** Sockets stay for hours, so they are spread by their number. */
export function socketsOf({ sockets, underWay }: Address): number {
  return sockets + underWay;
}

function isIdle({ underWay, sockets }: Address): boolean {
  return underWay === 0 && sockets === 0;
}

function requestsOf({ underWay }: Address): number {
  return underWay;
}

const lookUpByTheSystem: LookUp = (name) => lookup(name, { all: true, order: 'verbatim' });

/** Without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

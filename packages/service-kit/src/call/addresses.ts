import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Fault, meta } from '@wts/contracts';
import type { Logger } from '../observe/logger.ts';
import { Address, hostOf, probeHealth, type Connecting } from './address.ts';
import type { CallOutcome, ObserveCall } from './metrics.ts';
import { SERVICE_LIMITS } from '../limits.ts';

/** All IP addresses of a name. */
type LookUp = (name: string) => Promise<readonly LookupAddress[]>;

export interface AddressesOptions extends Connecting {
  /** The service, for the log. */
  readonly name: string;
  readonly urls: readonly string[];
  readonly log: Logger;
  /** Calls under way or waiting, to all addresses. More are refused. */
  readonly underWayMax: number;
  /** How often names are resolved again. */
  readonly refreshMs?: number;
  readonly lookUp?: LookUp;
  readonly watch?: Partial<Watch>;
  readonly observe?: ObserveCall;
}

/**
 * An address with requests under way that is silent for `quietMs` gets a health check, which may take `probeMs`. When health
 * checks have failed for `goneMs`, its sockets are closed. Addresses are checked every `everyMs`.
 */
interface Watch {
  readonly quietMs: number;
  readonly probeMs: number;
  readonly goneMs: number;
  readonly everyMs: number;
}

/** First pause of an address that failed; each further one is twice as long, up to the maximum. */
export const BACKOFF_MS = 500;
export const BACKOFF_MS_MAX = 10_000;

/** One of the configured URLs, and the addresses it resolves to. */
interface Source {
  readonly url: URL;
  readonly isName: boolean;
  addresses: Address[];
  isLookedUp: boolean;
}

/**
 * The processes of one service. Every IP address of every name is an address of its own, because a name may stand for any number
 * of replicas, and a connection that stays open would bind a caller to one of them. Names are resolved again every few seconds;
 * a look-up that fails or finds nothing changes nothing. Names are resolved by `getaddrinfo`, because a DNS server has neither
 * /etc/hosts nor the search domains by which a cluster names its services.
 *
 * A request goes to the address with the fewest requests under way, in turn where several have as few, so an address that hangs
 * gets few requests. An address that failed, or was silent for long while requests waited, gets no request while there are
 * others; it gets health checks in growing intervals instead. When all addresses have failed, the one whose pause ends first gets
 * the request, so a service that is back is found immediately. Keeps never.one-frozen.
 */
export class Addresses {
  readonly name: string;
  readonly #options: AddressesOptions;
  readonly #watch: Watch;
  readonly #sources: readonly Source[];
  readonly #refreshing: NodeJS.Timeout;
  /** Runs while an address has work or has failed. */
  #watching: NodeJS.Timeout | undefined;
  readonly #retired = new Set<Address>();
  #all: readonly Address[] = [];
  #underWay = 0;
  #next = 0;
  #isClosed = false;

  constructor(options: AddressesOptions) {
    const { name, urls, refreshMs = SERVICE_LIMITS.addressRefreshMs, watch } = options;
    if (urls.length === 0) throw new Error(`${name} has no address`);
    this.name = name;
    this.#options = options;
    this.#watch = {
      quietMs: SERVICE_LIMITS.addressQuietMs,
      probeMs: SERVICE_LIMITS.addressProbeMs,
      goneMs: SERVICE_LIMITS.addressGoneMs,
      everyMs: SERVICE_LIMITS.addressWatchMs,
      ...watch,
    };
    this.#sources = urls.map((text) => {
      const url = new URL(text);
      // Until it is resolved a name counts as one address.
      const addresses = [new Address(url, null, options)];
      return { url, isName: isIP(hostOf(url)) === 0, addresses, isLookedUp: false };
    });
    this.#gather();
    this.#refresh();
    this.#refreshing = setInterval(() => this.#refresh(), refreshMs).unref();
  }

  get count(): number {
    return this.#all.length;
  }

  /** The address to try next; null when all have been tried. */
  pick(tried: ReadonlySet<Address> | null = null, load: (address: Address) => number = requestsOf): Address | null {
    const all = this.#all;
    let best: Address | null = null;
    let failing: Address | null = null;
    let at = 0;
    for (let step = 0; step < all.length; step += 1) {
      const index = (this.#next + step) % all.length;
      const address = all[index] as Address;
      if (tried?.has(address)) continue;
      if (address.failures > 0 || address.isProbed) {
        if (failing === null || address.backoffUntil < failing.backoffUntil) failing = address;
      } else if (best === null || load(address) < load(best)) {
        best = address;
        at = index;
      }
    }
    if (best !== null) this.#next = (at + 1) % all.length;
    return best ?? failing;
  }

  /**
   * Counts a request to this address; returns the function that ends it with its outcome. `onUnresponsive` is called when a health check of the
   * address fails while the request waits for its reply.
   */
  begin(address: Address, onUnresponsive?: () => void): (outcome?: CallOutcome) => void {
    const startedMs = performance.now();
    if (isIdle(address)) address.silentSince = performance.now();
    this.#startWatching();
    address.underWay += 1;
    if (onUnresponsive !== undefined) address.onUnresponsive.add(onUnresponsive);
    let isOver = false;
    return (outcome) => {
      if (isOver) return;
      isOver = true;
      if (outcome !== undefined) this.#options.observe?.(outcome, startedMs);
      address.underWay -= 1;
      if (onUnresponsive !== undefined) address.onUnresponsive.delete(onUnresponsive);
    };
  }

  /** Counts a socket to this address; returns the function that ends it. */
  beginSocket(address: Address, onDead: () => void): () => void {
    this.#startWatching();
    address.sockets += 1;
    address.onDead.add(onDead);
    return () => {
      address.sockets -= 1;
      address.onDead.delete(onDead);
    };
  }

  /** Pauses the address. Failures during the pause are of calls that had begun before it, and do not count. */
  failed(address: Address, cause: unknown, now = performance.now()): void {
    if (now < address.backoffUntil) return;
    this.#startWatching();
    address.backoffUntil = now + Math.min(BACKOFF_MS * 2 ** address.failures, BACKOFF_MS_MAX);
    address.failures += 1;
    if (address.failures > 1) return;
    address.failingSince = now;
    this.#options.log.warn(
      { peer: this.name, origin: address.name, err: cause },
      'a service does not reply; its other addresses, if it has any, get its requests. Look whether it runs, and at its log',
    );
    // Its name may have another address by now.
    this.#refresh();
  }

  answered(address: Address): void {
    address.silentSince = performance.now();
    if (address.failures === 0) return;
    address.failures = 0;
    address.backoffUntil = 0;
    this.#options.log.info({ peer: this.name, origin: address.name }, 'a service replies again');
  }

  /** Counts a call under way; every `enter` needs one `leave`. */
  enter(): void {
    if (this.#underWay >= this.#options.underWayMax) throw new Fault('unavailable');
    this.#underWay += 1;
  }

  leave(): void {
    this.#underWay -= 1;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#refreshing);
    clearInterval(this.#watching);
    await Promise.all([...this.#all, ...this.#retired].map(({ pool }) => pool.destroy()));
  }

  #refresh(): void {
    for (const source of this.#sources) if (source.isName && !source.isLookedUp) void this.#resolve(source);
  }

  async #resolve(source: Source): Promise<void> {
    const { lookUp = lookUpBySystem, log } = this.#options;
    source.isLookedUp = true;
    try {
      const found = await lookUp(hostOf(source.url));
      if (found.length > 0 && !this.#isClosed) this.#update(source, found.slice(0, SERVICE_LIMITS.addressesOfNameMax));
    } catch (err) {
      log.debug({ peer: this.name, origin: source.url.origin, err }, 'a name could not be resolved');
    } finally {
      source.isLookedUp = false;
    }
  }

  /** Addresses that are still there keep their state; those that are not finish their requests. */
  #update(source: Source, found: readonly LookupAddress[]): void {
    const current = new Map(source.addresses.map((address) => [address.ip, address]));
    const next = found.map((one) => current.get(one.address) ?? new Address(source.url, one, this.#options));
    const isSame = next.length === source.addresses.length && next.every((one) => source.addresses.includes(one));
    if (isSame) return;
    const removed = source.addresses.filter((address) => !next.includes(address));
    source.addresses = [...new Set(next)];
    this.#gather();
    for (const address of removed) this.#retire(address);
    this.#options.log.info(
      { peer: this.name, origin: source.url.origin, addresses: source.addresses.map(({ ip }) => ip) },
      'a service has other addresses',
    );
  }

  /** Health checks go on until its requests and sockets have ended. */
  #retire(address: Address): void {
    this.#retired.add(address);
    this.#startWatching();
    address.pool.close().catch(() => undefined);
  }

  #gather(): void {
    this.#all = this.#sources.flatMap(({ addresses }) => addresses);
  }

  #startWatching(): void {
    if (this.#isClosed) return;
    this.#watching ??= setInterval(() => this.#checkHealth(), this.#watch.everyMs).unref();
  }

  /** Checks addresses that are silent for too long, and those whose pause is over. */
  #checkHealth(): void {
    const now = performance.now();
    for (const address of this.#retired) if (isIdle(address)) this.#retired.delete(address);
    const all = [...this.#all, ...this.#retired];
    if (all.every((address) => isIdle(address) && address.failures === 0)) {
      clearInterval(this.#watching);
      this.#watching = undefined;
    }
    for (const address of all) {
      const isDue =
        address.failures > 0
          ? now >= address.backoffUntil
          : !isIdle(address) && now - address.silentSince >= this.#watch.quietMs;
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
      // A process that stops accepts no connection and finishes its requests.
      if ((cause as NodeJS.ErrnoException).code === 'ECONNREFUSED') return;
      for (const notify of address.onUnresponsive) notify();
      if (performance.now() - address.failingSince < this.#watch.goneMs) return;
      for (const notify of address.onDead) notify();
    } finally {
      address.isProbed = false;
    }
  }
}

/** Sockets stay open for hours, so they are distributed by their number. */
export function socketsOf({ sockets, underWay }: Address): number {
  return sockets + underWay;
}

function isIdle({ underWay, sockets }: Address): boolean {
  return underWay === 0 && sockets === 0;
}

function requestsOf({ underWay }: Address): number {
  return underWay;
}

const lookUpBySystem: LookUp = (name) => lookup(name, { all: true, order: 'verbatim' });

import { Fault } from '@wts/contracts';
import { mayTakeMore } from '@wts/service-kit/fairness';

export interface SharesLimits {
  readonly requestsMax: number;
  readonly socketsMax: number;
  /** Of all callers; a network may have at most three times what is free. */
  readonly socketsOfAllMax: number;
  readonly bodyBytesMax: number;
  /** Of all callers of one network together, because one person may have many accounts. */
  readonly requestsOfNetworkMax: number;
  readonly bodyBytesOfNetworkMax: number;
  readonly bodyBytesOfAllMax: number;
}

interface Share {
  requests: number;
  sockets: number;
  bodyBytes: number;
}

/** One of the parallel requests of a caller. */
export interface RequestSlot {
  /** Counts received bytes of the body. When they exceed a limit, returns the fault and does not count them. */
  hold(bytes: number): Fault | null;
  /** Frees the slot and the bytes of the body. Called once. */
  release(): void;
}

/**
 * Limits what one caller holds of this gateway: requests in progress, sockets, and bytes of bodies in memory. A slow client can
 * keep a request or a socket open for long at no cost. So one caller gets a fixed part, all callers of one network a larger
 * part, because new accounts cost nothing either, and all callers together what memory allows. Of the sockets a network may have three
 * times what is free, so that another network always finds some.
 * Keeps limits.at-once.caller.
 */
export class Shares {
  readonly #limits: SharesLimits;
  /** Callers, and networks, with a request in progress or a socket. */
  readonly #byCaller = new Map<string, Share>();
  readonly #byNetwork = new Map<string, Share>();
  #bodyBytes = 0;
  #sockets = 0;

  constructor(limits: SharesLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#byCaller.size + this.#byNetwork.size;
  }

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  acquire(caller: string, network: string): RequestSlot {
    const { requestsMax, requestsOfNetworkMax } = this.#limits;
    const [own, shared] = [shareOf(this.#byCaller, caller), shareOf(this.#byNetwork, network)];
    const release = (): void => {
      own.requests -= 1;
      shared.requests -= 1;
      forget(this.#byCaller, caller, own);
      forget(this.#byNetwork, network, shared);
    };
    own.requests += 1;
    shared.requests += 1;
    if (own.requests > requestsMax || shared.requests > requestsOfNetworkMax) {
      const whose = own.requests > requestsMax ? 'You have' : 'Your network has';
      release();
      throw tooMuch(`${whose} too many requests in progress`);
    }
    let held = 0;
    return {
      hold: (bytes) => {
        const fault = this.#refusalOf(own, shared, bytes);
        if (fault !== null) return fault;
        held += bytes;
        this.#add(own, shared, bytes);
        return null;
      },
      release: () => {
        this.#add(own, shared, -held);
        release();
      },
    };
  }

  /** Takes a socket slot of a caller and a network. The returned function frees it; call it once. */
  acquireSocket(caller: string, network: string): () => void {
    const [own, shared] = [shareOf(this.#byCaller, caller), shareOf(this.#byNetwork, network)];
    const count = (change: 1 | -1): void => {
      own.sockets += change;
      shared.sockets += change;
      this.#sockets += change;
      forget(this.#byCaller, caller, own);
      forget(this.#byNetwork, network, shared);
    };
    const { socketsMax, socketsOfAllMax } = this.#limits;
    const mayTake = mayTakeMore(shared.sockets, socketsOfAllMax - this.#sockets);
    const whose = own.sockets >= socketsMax ? 'You have' : mayTake ? null : 'Your network has';
    if (whose === null) {
      count(1);
      return () => count(-1);
    }
    forget(this.#byCaller, caller, own);
    forget(this.#byNetwork, network, shared);
    throw tooMuch(`${whose} too many open sockets`);
  }

  #refusalOf(own: Share, shared: Share, bytes: number): Fault | null {
    const { bodyBytesMax, bodyBytesOfNetworkMax, bodyBytesOfAllMax } = this.#limits;
    if (own.bodyBytes + bytes > bodyBytesMax) return tooMuch('You are sending too many large bodies at once');
    if (shared.bodyBytes + bytes > bodyBytesOfNetworkMax)
      return tooMuch('Your network is sending too many large bodies at once');
    return this.#bodyBytes + bytes > bodyBytesOfAllMax ? new Fault('unavailable') : null;
  }

  #add(own: Share, shared: Share, bytes: number): void {
    own.bodyBytes += bytes;
    shared.bodyBytes += bytes;
    this.#bodyBytes += bytes;
  }
}

/** The share of a caller or network, created when missing; `forget` removes an empty one. */
function shareOf(shares: Map<string, Share>, key: string): Share {
  return shares.getOrInsertComputed(key, () => ({ requests: 0, sockets: 0, bodyBytes: 0 }));
}

function forget(shares: Map<string, Share>, key: string, { requests, sockets }: Share): void {
  if (requests === 0 && sockets === 0) shares.delete(key);
}

function tooMuch(problem: string): Fault {
  const message = `${problem}; wait for some to finish.`;
  return new Fault('rate_limited', { message, retryAfterSeconds: 1 });
}

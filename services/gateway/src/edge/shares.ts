import { Fault } from '@wts/contracts';

export interface SharesLimits {
  readonly requestsMax: number;
  readonly socketsMax: number;
  readonly bodyBytesMax: number;
  /** Of all callers of one network together: a person may be many. */
  readonly requestsOfNetworkMax: number;
  readonly bodyBytesOfNetworkMax: number;
  readonly bodyBytesOfAllMax: number;
}

interface Share {
  requests: number;
  sockets: number;
  bodyBytes: number;
}

/** A place among the requests under way. */
export interface Place {
  /** Bytes of its body have come. The fault to refuse it with when they are too many; then they are not counted. */
  hold(bytes: number): Fault | null;
  /** The request is over, and the bytes of its body are gone. Called once. */
  leave(): void;
}

/**
 * What single callers hold of this gateway at a moment: requests under way, sockets, and bytes of bodies that are on their
 * way in. A request may take long because its sender or its reader is slow, a socket stays for as long as its
 * client likes, and both cost whoever opens them nothing; so one caller may hold a part of what there is and no more, all
 * callers of one network a larger part, because new callers cost nothing either, and everybody together what memory allows.
 * Keeps limits.at-once.caller.
 */
export class Shares {
  readonly #limits: SharesLimits;
  /** One for each caller, and each network, with a request under way or a socket. */
  readonly #byCaller = new Map<string, Share>();
  readonly #byNetwork = new Map<string, Share>();
  #bodyBytes = 0;

  constructor(limits: SharesLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#byCaller.size + this.#byNetwork.size;
  }

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Takes a place among the requests of a caller and a network. */
  enter(caller: string, network: string): Place {
    const { requestsMax, requestsOfNetworkMax } = this.#limits;
    const [own, shared] = [shareOf(this.#byCaller, caller), shareOf(this.#byNetwork, network)];
    const leave = (): void => {
      own.requests -= 1;
      shared.requests -= 1;
      forget(this.#byCaller, caller, own);
      forget(this.#byNetwork, network, shared);
    };
    own.requests += 1;
    shared.requests += 1;
    if (own.requests > requestsMax || shared.requests > requestsOfNetworkMax) {
      const whose = own.requests > requestsMax ? 'You have' : 'Your network has';
      leave();
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
      leave: () => {
        this.#add(own, shared, -held);
        leave();
      },
    };
  }

  /** Takes a place among the sockets of a caller; it is given back by calling what is returned, once. */
  enterSocket(caller: string): () => void {
    const share = shareOf(this.#byCaller, caller);
    if (share.sockets >= this.#limits.socketsMax) throw tooMuch('You have too many open sockets');
    share.sockets += 1;
    return () => {
      share.sockets -= 1;
      forget(this.#byCaller, caller, share);
    };
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

/** Kept by `forget` for as long as something is held. */
function shareOf(shares: Map<string, Share>, whose: string): Share {
  let share = shares.get(whose);
  if (share === undefined) {
    share = { requests: 0, sockets: 0, bodyBytes: 0 };
    shares.set(whose, share);
  }
  return share;
}

function forget(shares: Map<string, Share>, whose: string, { requests, sockets }: Share): void {
  if (requests === 0 && sockets === 0) shares.delete(whose);
}

function tooMuch(problem: string): Fault {
  const message = `${problem}; wait for some to finish.`;
  return new Fault('rate_limited', { message, retryAfterSeconds: 1 });
}

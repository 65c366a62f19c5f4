import { Fault } from '@wts/contracts';

export interface SharesLimits {
  readonly requestsMax: number;
  readonly socketsMax: number;
  readonly bodyBytesMax: number;
  readonly bodyBytesOfAllMax: number;
}

interface Share {
  requests: number;
  sockets: number;
  bodyBytes: number;
}

/**
 * What single callers hold of this gateway at a moment: requests under way, sockets, and bytes of bodies that are on their
 * way in. A request may take long because its sender dribbles or its reader dawdles, a socket stays for as long as its
 * client likes, and both cost whoever opens them nothing; so one caller may hold a part of what there is and no more, and everybody together what memory allows.
 * Keeps limits.at-once.caller.
 */
export class Shares {
  readonly #limits: SharesLimits;
  /** One for each caller with a request under way or a socket. */
  readonly #byCaller = new Map<string, Share>();
  #bodyBytes = 0;

  constructor(limits: SharesLimits) {
    this.#limits = limits;
  }

  get callers(): number {
    return this.#byCaller.size;
  }

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Takes a place among the requests of a caller; every `enter` has its `leave`. */
  enter(caller: string): void {
    const share = this.#of(caller);
    if (share.requests >= this.#limits.requestsMax) throw tooMuch('requests of yours are under way');
    share.requests += 1;
  }

  /** Takes a place among the sockets of a caller; it is given back by calling what is returned, once. */
  enterSocket(caller: string): () => void {
    const share = this.#of(caller);
    if (share.sockets >= this.#limits.socketsMax) throw tooMuch('sockets of yours are open');
    share.sockets += 1;
    return () => {
      share.sockets -= 1;
      this.#forget(caller, share);
    };
  }

  /** Bytes of a body have come. The fault to refuse it with when they are too many; then they are not counted. */
  hold(caller: string, bytes: number): Fault | null {
    const { bodyBytesMax, bodyBytesOfAllMax } = this.#limits;
    const share = this.#byCaller.get(caller);
    if (share === undefined) throw new Error('a caller without a request has no body');
    if (share.bodyBytes + bytes > bodyBytesMax) return tooMuch('bodies of yours are under way');
    if (this.#bodyBytes + bytes > bodyBytesOfAllMax) return new Fault('unavailable');
    share.bodyBytes += bytes;
    this.#bodyBytes += bytes;
    return null;
  }

  /** The request is over, and the bytes of its body are gone. */
  leave(caller: string, bodyBytes: number): void {
    const share = this.#byCaller.get(caller);
    if (share === undefined) return;
    share.requests -= 1;
    share.bodyBytes -= bodyBytes;
    this.#bodyBytes -= bodyBytes;
    this.#forget(caller, share);
  }

  #of(caller: string): Share {
    let share = this.#byCaller.get(caller);
    if (share === undefined) {
      share = { requests: 0, sockets: 0, bodyBytes: 0 };
      this.#byCaller.set(caller, share);
    }
    return share;
  }

  #forget(caller: string, { requests, sockets }: Share): void {
    if (requests === 0 && sockets === 0) this.#byCaller.delete(caller);
  }
}

function tooMuch(what: string): Fault {
  const message = `Too many ${what} at once; wait for some to end.`;
  return new Fault('rate_limited', { message, retryAfterSeconds: 1 });
}

import { Fault } from '@wts/contracts';

export interface SharesLimits {
  readonly requestsMax: number;
  readonly bodyBytesMax: number;
  readonly bodyBytesOfAllMax: number;
}

interface Share {
  requests: number;
  bodyBytes: number;
}

/**
 * What single callers hold of this gateway at a moment: requests under way, and bytes of bodies that are on their way in.
 * A request may take long because its sender dribbles or its reader dawdles, and such requests cost whoever sends them
 * nothing; so one caller may hold a part of what there is and no more, and everybody together what memory allows.
 * Keeps limits.at-once.caller.
 */
export class Shares {
  readonly #limits: SharesLimits;
  /** One for each caller with a request under way. */
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
    const share = this.#byCaller.get(caller);
    if (share === undefined) this.#byCaller.set(caller, { requests: 1, bodyBytes: 0 });
    else if (share.requests >= this.#limits.requestsMax) throw tooMuch('requests');
    else share.requests += 1;
  }

  /** Bytes of a body have come. The fault to refuse it with when they are too many; then they are not counted. */
  hold(caller: string, bytes: number): Fault | null {
    const { bodyBytesMax, bodyBytesOfAllMax } = this.#limits;
    const share = this.#byCaller.get(caller);
    if (share === undefined) throw new Error('a caller without a request has no body');
    if (share.bodyBytes + bytes > bodyBytesMax) return tooMuch('bodies');
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
    if (share.requests === 0) this.#byCaller.delete(caller);
  }
}

function tooMuch(what: 'requests' | 'bodies'): Fault {
  const message = `Too many ${what} of yours are under way at once; wait for some to end.`;
  return new Fault('rate_limited', { message, retryAfterSeconds: 1 });
}

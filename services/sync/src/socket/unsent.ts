/** How many bytes one socket may leave unreceived, and for how long. */
export interface Allowance {
  readonly bytes: number;
  readonly stalledMs: number;
}

/**
 * Sums the bytes that were sent to the sockets of a process and not received. Each socket may leave some, because networks
 * pause; when the sum exceeds the bound of the process, each may leave less, for less time. A frame that several sockets
 * share counts for each, so the sum is never below what is held.
 */
export class Unsent {
  readonly #max: number;
  readonly #ample: Allowance;
  readonly #tight: Allowance;
  #bytes = 0;

  constructor(max: number, ample: Allowance, tight: Allowance) {
    this.#max = max;
    this.#ample = ample;
    this.#tight = tight;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get allowance(): Allowance {
    return this.#bytes <= this.#max ? this.#ample : this.#tight;
  }

  /** Replaces `before`, the bytes that a socket had left unreceived, by `after`; returns `after`. */
  change(before: number, after: number): number {
    this.#bytes += after - before;
    return after;
  }
}

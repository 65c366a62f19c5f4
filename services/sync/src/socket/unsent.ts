/** What one socket may leave untaken, and for how long. */
export interface Allowance {
  readonly bytes: number;
  readonly stalledMs: number;
}

/**
 * What all sockets of a process together have been sent and not taken. Each may leave some, because networks have hiccups;
 * when all of them together leave more than the process can bear, each may leave less and is given less time. A frame that
 * several sockets share counts for each, so this is at least what is held.
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

  /** A socket that left `before` leaves `after` now. Returns `after`, for it to remember. */
  change(before: number, after: number): number {
    this.#bytes += after - before;
    return after;
  }
}

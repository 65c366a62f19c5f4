import { SHARE } from './fair-gate.ts';

export interface QuotaHold extends Disposable {
  /** Corrects the amount. */
  resize(amount: number): void;
}

/**
 * Counts how much each person holds of a resource that only its holder gives back: bytes of disk or memory, answers that are
 * sent at the pace of their clients. Turns cannot divide such a resource as they divide slots; so each person has a bound,
 * a quarter of what the others leave, and something is always left for the next person.
 */
export class FairQuota {
  readonly #max: number;
  /** For work that has started already; `admits` leaves it free. */
  readonly #reserved: number;
  readonly #people = new Map<string, number>();
  #total = 0;

  constructor(max: number, reserved = 0) {
    this.#max = max;
    this.#reserved = reserved;
  }

  get total(): number {
    return this.#total;
  }

  of(person: string): number {
    return this.#people.get(person) ?? 0;
  }

  /** Takes an amount without a check; a negative one gives back. */
  add(person: string, amount: number): void {
    this.#total += amount;
    const left = this.of(person) + amount;
    if (left === 0) this.#people.delete(person);
    else this.#people.set(person, left);
  }

  move(from: string, to: string, amount: number): void {
    this.add(from, -amount);
    this.add(to, amount);
  }

  /** Takes an amount until it is disposed of; undefined when the person may not. */
  hold(person: string, amount: number): QuotaHold | undefined {
    if (!this.admits(person, amount)) return undefined;
    let held = 0;
    let isHeld = true;
    const resize = (wanted: number): void => {
      if (!isHeld) return;
      this.add(person, wanted - held);
      held = wanted;
    };
    resize(amount);
    return {
      resize,
      [Symbol.dispose]: () => {
        resize(0);
        isHeld = false;
      },
    };
  }

  /**
   * Whether this person may start something that takes this amount: a share of what the others leave. Each person's maximum
   * leaves some for the next one, so a few people together cannot take all of it.
   */
  admits(person: string, amount: number): boolean {
    const own = this.of(person) + amount;
    const total = this.#total + amount;
    return own * (1 - SHARE) <= (this.#max - total) * SHARE && total <= this.#max - this.#reserved;
  }

  /** Whether so much is held that nothing new may start. */
  get isShort(): boolean {
    return this.#total > this.#max - this.#reserved;
  }

  /** Whether this person should give back soon: they hold more than a share while more than half is taken, or it is short. */
  isTight(person: string): boolean {
    const isOver = this.of(person) > this.#max * SHARE && this.#total > this.#max / 2;
    return isOver || this.isShort;
  }

  /** Whether started work of this person must end: they hold more than half, or nothing is left. */
  isFull(person: string): boolean {
    return this.#total > this.#max || this.of(person) > this.#max / 2;
  }
}

/** Of what there is, one person begins nothing more with this much in hand. */
const SHARE = 1 / 4;

export interface Held extends Disposable {
  /** It turned out to be so much. */
  become(amount: number): void;
}

/**
 * How much each person holds of something that is given back only by its holder: bytes of disk or memory, answers that are
 * sent at the pace of their readers. It cannot be shared out by turns, as slots can; so each person has a bound of their
 * own, a quarter of what the others leave, and all others still find room.
 */
export class Holdings {
  readonly #max: number;
  /** Kept for what is under way: nothing new begins in it. */
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

  /** Takes, or with a negative amount gives back. */
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

  /** Takes it for a while; refused by undefined. */
  hold(person: string, amount: number): Held | undefined {
    if (!this.admits(person, amount)) return undefined;
    let held = 0;
    let isHeld = true;
    const become = (wanted: number): void => {
      if (!isHeld) return;
      this.add(person, wanted - held);
      held = wanted;
    };
    become(amount);
    return {
      become,
      [Symbol.dispose]: () => {
        become(0);
        isHeld = false;
      },
    };
  }

  /**
   * Whether this person may begin something that takes so much: a share of what the others leave. Whoever takes all they may
   * leaves room for the next one, so a few who work together do not take all of it.
   */
  admits(person: string, amount: number): boolean {
    const own = this.of(person) + amount;
    const total = this.#total + amount;
    return own * (1 - SHARE) <= (this.#max - total) * SHARE && total <= this.#max - this.#reserved;
  }

  /** Whether all together hold so much that nothing new begins. */
  get isShort(): boolean {
    return this.#total > this.#max - this.#reserved;
  }

  /** Whether what this person holds must be given back soon: it is more than a share of what runs short. */
  isTight(person: string): boolean {
    const isOver = this.of(person) > this.#max * SHARE && this.#total > this.#max / 2;
    return isOver || this.isShort;
  }

  /** Whether what is under way for this person must end: half of it all is theirs, or there is no more. */
  isFull(person: string): boolean {
    return this.#total > this.#max || this.of(person) > this.#max / 2;
  }
}

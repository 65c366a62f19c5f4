/** One who waits for a turn. */
export interface Turn {
  /** The round at which its next turn starts. */
  start: number;
  /** Orders equal starts. */
  sequence: number;
  /** Its place in the heap. */
  index: number;
}

/** A heap of those who wait: the lowest start is first, of equal starts the lowest sequence. */
export class Turns<T extends Turn> {
  readonly #heap: T[] = [];

  get first(): T | undefined {
    return this.#heap[0];
  }

  /** In no particular order. */
  [Symbol.iterator](): Iterator<T> {
    return this.#heap.values();
  }

  add(turn: T): void {
    turn.index = this.#heap.push(turn) - 1;
    this.settle(turn);
  }

  remove(turn: T): void {
    const { index } = turn;
    const last = this.#heap.pop() as T;
    turn.index = -1;
    if (last === turn) return;
    this.#set(index, last);
    this.settle(last);
  }

  /** Visits turns in their order until a visit finds something. All keep their places. */
  find<R>(visit: (turn: T) => R | undefined): R | undefined {
    const skipped: T[] = [];
    let found: R | undefined;
    for (let turn = this.first; turn; turn = this.first) {
      found = visit(turn);
      if (found !== undefined) break;
      this.remove(turn);
      skipped.push(turn);
    }
    for (const turn of skipped) this.add(turn);
    return found;
  }

  /** Moves a turn whose start has changed to its place. */
  settle(turn: T): void {
    const heap = this.#heap;
    let { index } = turn;
    for (
      let above = heap[(index - 1) >> 1];
      index > 0 && above && isBefore(turn, above);
      above = heap[(index - 1) >> 1]
    ) {
      this.#set(index, above);
      index = (index - 1) >> 1;
    }
    for (;;) {
      const [left, right] = [heap[index * 2 + 1], heap[index * 2 + 2]];
      const below = right && left && isBefore(right, left) ? right : left;
      if (!below || !isBefore(below, turn)) break;
      const next = below.index;
      this.#set(index, below);
      index = next;
    }
    this.#set(index, turn);
  }

  #set(index: number, turn: T): void {
    this.#heap[index] = turn;
    turn.index = index;
  }
}

export function isBefore(one: Turn, other: Turn): boolean {
  return one.start < other.start || (one.start === other.start && one.sequence < other.sequence);
}

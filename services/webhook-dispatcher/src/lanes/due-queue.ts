/** How many characters of texts the lanes of a process hold together. */
export interface Held {
  characters: number;
}

/** Deliveries in the order in which their turn comes; what they take is counted for all lanes together. */
export class DueQueue<T extends { readonly body: string }> {
  readonly #held: Held;
  #items: T[] = [];

  constructor(held: Held) {
    this.#held = held;
  }

  get length(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  fill(items: readonly T[]): void {
    this.clear();
    this.#items = [...items];
    for (const { body } of items) this.#held.characters += body.length;
  }

  shift(): T | undefined {
    const item = this.#items.shift();
    this.#held.characters -= item?.body.length ?? 0;
    return item;
  }

  clear(): void {
    for (const { body } of this.#items) this.#held.characters -= body.length;
    this.#items = [];
  }
}

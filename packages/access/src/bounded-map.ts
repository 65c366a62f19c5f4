/**
 * A map with at most `entriesMax` entries. The entry written first is evicted first, also when it is read often, because tracking
 * the order of use costs more than it saves.
 */
export class BoundedMap<K, V> {
  readonly #entries = new Map<K, V>();
  readonly #entriesMax: number;

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  set(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size > this.#entriesMax) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#entries.delete(oldest.value);
    }
  }

  delete(key: K): void {
    this.#entries.delete(key);
  }

  deleteWhere(matches: (value: V) => boolean): void {
    for (const [key, value] of this.#entries) {
      if (matches(value)) this.#entries.delete(key);
    }
  }

  clear(): void {
    this.#entries.clear();
  }
}

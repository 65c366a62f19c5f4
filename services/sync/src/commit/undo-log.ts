/** What undoes the changes of the unit that is decided now, in case it is refused. */
export class UndoLog {
  #undos: (() => void)[] = [];

  /** Begins a unit: what earlier units changed stays. */
  begin(): void {
    this.#undos = [];
  }

  undo(): void {
    for (const undo of this.#undos.toReversed()) undo();
  }

  add(undo: () => void): void {
    this.#undos.push(undo);
  }

  /** Sets an entry of a map, whose values are never undefined. */
  set<K, V>(map: Map<K, V>, key: K, value: V): void {
    const before = map.get(key);
    map.set(key, value);
    this.#undos.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
  }
}

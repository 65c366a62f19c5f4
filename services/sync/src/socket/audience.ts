import type { RingChunk } from '../hub/ring.ts';

/** Whoever is to be told when a chunk holds an entry of one of their groups. */
export interface Listening {
  wake(chunk: RingChunk): void;
}

/**
 * Who listens to which group. A chunk wakes only those it has something for, so the cost of a change follows the size
 * of its audience and not the number of open sockets.
 */
export class Audience<T extends Listening> {
  readonly #byGroup = new Map<string, Set<T>>();

  add(listener: T, groups: Iterable<string>): void {
    for (const group of groups) {
      const listeners = this.#byGroup.get(group);
      if (listeners === undefined) this.#byGroup.set(group, new Set([listener]));
      else listeners.add(listener);
    }
  }

  remove(listener: T, groups: Iterable<string>): void {
    for (const group of groups) {
      const listeners = this.#byGroup.get(group);
      listeners?.delete(listener);
      if (listeners?.size === 0) this.#byGroup.delete(group);
    }
  }

  wake(chunk: RingChunk): void {
    for (const group of chunk.groups) {
      for (const listener of this.#byGroup.get(group) ?? []) listener.wake(chunk);
    }
  }
}

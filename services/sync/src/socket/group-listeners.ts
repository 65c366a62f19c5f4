import { readerKey, type GroupsWithGains, type Reader } from '@wts/read-model';
import type { RingChunk } from '../hub/ring.ts';

/** Is called with each chunk that has an entry of one of its groups. */
export interface GroupListener {
  wake(chunk: RingChunk): void;
}

/** All listeners of one person, with credentials for the same groups. */
interface Readers<T> {
  groups: ReadonlySet<string>;
  at: bigint;
  readonly listeners: Set<T>;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Stores which feeds listen to which group. A chunk wakes only the listeners of its groups, so the cost of a change grows with
 * the number of people who may see it and not with the number of open sockets. Groups are stored by reader and not by socket:
 * a thousand sockets of a person in ten thousand projects take eleven thousand references, not ten million.
 */
export class GroupListeners<T extends GroupListener> {
  readonly #byGroup = new Map<string, Set<Readers<T>>>();
  readonly #byReader = new Map<string, Readers<T>>();

  /** Adds a listener, or updates the groups of its reader. Groups older than the stored ones are ignored. */
  set(listener: T, reader: Reader, { groups, at }: Pick<GroupsWithGains, 'groups' | 'at'>): void {
    const key = readerKey(reader.userId, reader.workspaceId);
    const readers = this.#byReader.getOrInsertComputed(key, () => ({ groups: NONE, at: -1n, listeners: new Set() }));
    readers.listeners.add(listener);
    if (at <= readers.at) return;
    this.#replaceGroups(readers, groups);
    readers.at = at;
  }

  remove(listener: T, reader: Reader): void {
    const key = readerKey(reader.userId, reader.workspaceId);
    const readers = this.#byReader.get(key);
    if (readers === undefined || !readers.listeners.delete(listener) || readers.listeners.size > 0) return;
    this.#replaceGroups(readers, NONE);
    this.#byReader.delete(key);
  }

  wake(chunk: RingChunk): void {
    for (const group of chunk.groups) {
      for (const { listeners } of this.#byGroup.get(group) ?? []) {
        for (const listener of listeners) listener.wake(chunk);
      }
    }
  }

  #replaceGroups(readers: Readers<T>, groups: ReadonlySet<string>): void {
    if (groups === readers.groups) return;
    for (const group of readers.groups) if (!groups.has(group)) this.#remove(group, readers);
    for (const group of groups)
      if (!readers.groups.has(group)) this.#byGroup.getOrInsertComputed(group, () => new Set()).add(readers);
    readers.groups = groups;
  }

  #remove(group: string, readers: Readers<T>): void {
    const all = this.#byGroup.get(group);
    all?.delete(readers);
    if (all?.size === 0) this.#byGroup.delete(group);
  }
}

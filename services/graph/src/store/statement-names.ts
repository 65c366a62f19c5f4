import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { GRAPH_LIMITS } from '../limits.ts';

/**
 * The names under which statements are prepared: a text gets one when it was seen several times, unless it is very long. A connection
 * keeps all statements that it prepared, and clients can make any number of texts, so after a number of names all begin again, with
 * new connections.
 */
export class StatementNames {
  readonly #names = new Map<string, string>();
  /** How often a text without a name was seen, by its hash. */
  readonly #seen = new LRUCache<string, number>({ max: SEEN_MAX });
  #generation = 0;
  readonly #generations = new WeakMap<object, number>();

  nameOf(text: string): string | undefined {
    if (text.length > TEXT_CHARS_MAX) return undefined;
    const name = this.#names.get(text);
    if (name !== undefined) return name;
    if (!this.#isFrequent(text)) return undefined;
    if (this.#names.size >= GRAPH_LIMITS.preparedMax) {
      this.#names.clear();
      this.#generation += 1;
    }
    const made = `graph_${this.#generation}_${this.#names.size}`;
    this.#names.set(text, made);
    return made;
  }

  /** False for a connection that has statements of before: it is closed after use. */
  isCurrent(connection: object): boolean {
    const generation = this.#generations.get(connection) ?? this.#generation;
    this.#generations.set(connection, generation);
    return generation === this.#generation;
  }

  #isFrequent(text: string): boolean {
    const hash = createHash('sha256').update(text).digest('base64url');
    const count = (this.#seen.peek(hash) ?? 0) + 1;
    this.#seen.delete(hash);
    if (count >= FREQUENT) return true;
    this.#seen.set(hash, count);
    return false;
  }
}

const FREQUENT = 3;
const SEEN_MAX = 500;
/** PostgreSQL keeps the text and the plan of a prepared statement in the memory of each connection. */
const TEXT_CHARS_MAX = 32_768;

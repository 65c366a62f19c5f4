import type { EntryChunk } from '@wts/contracts';
import { chunkBytes, hasNoEntries } from './chunk.ts';

/**
 * Chunks that have arrived and not been delivered, whatever order they came in. `take` gives the part of a chunk that
 * starts right after the cursor, or nothing: a chunk beyond a hole waits for what fills the hole.
 *
 * Invariant: what `take` returns begins exactly where the cursor stands, because otherwise an action would be skipped
 * (a chunk beyond a hole) or repeated (an overlap).
 */
export class Arrivals {
  #waiting: { prev: bigint; last: bigint; bytes: number; chunk: EntryChunk }[] = [];
  #bytes = 0;
  #lost = false;
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** True when entries after the cursor are known to exist that are not here: the log has them. */
  get incomplete(): boolean {
    return this.#lost || this.#waiting.length > 0;
  }

  offer(chunk: EntryChunk, cursor: bigint): void {
    const last = BigInt(chunk.last);
    if (last <= cursor) return;
    const bytes = chunkBytes(chunk);
    // A bound instead of a queue without end: the log holds what is turned away here.
    if (hasNoEntries(chunk) || this.#bytes + bytes > this.#bytesMax) {
      this.#lost = true;
      return;
    }
    this.#waiting.push({ prev: BigInt(chunk.prev), last, bytes, chunk });
    this.#bytes += bytes;
  }

  take(cursor: bigint): EntryChunk | null {
    this.#waiting = this.#waiting.filter((one) => {
      if (one.last <= cursor) this.#bytes -= one.bytes;
      return one.last > cursor;
    });
    const next = this.#waiting.find((one) => one.prev <= cursor);
    return next === undefined ? null : trim(next.chunk, cursor);
  }

  /** The log has been read up to its end: what was turned away has been seen. */
  settle(): void {
    this.#lost = false;
  }

  clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.#lost = false;
  }
}

/** The part of a chunk that lies after the cursor. The cursor must lie within the chunk, or right before it. */
function trim(chunk: EntryChunk, cursor: bigint): EntryChunk {
  if (BigInt(chunk.prev) === cursor) return chunk;
  const actions = chunk.actions.filter((action) => BigInt(action.syncId) > cursor);
  const [first] = actions;
  return { ...chunk, prev: cursor.toString(), first: first?.syncId ?? chunk.last, actions };
}

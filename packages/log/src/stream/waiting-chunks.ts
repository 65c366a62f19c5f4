import type { EntryChunk } from '@wts/contracts';
import { chunkBytes, hasNoEntries } from './chunk.ts';

/**
 * Chunks that arrived in any order and are not delivered yet. A chunk beyond a hole waits until the hole is filled.
 *
 * Invariant: `take` returns a chunk that begins right after the cursor, because otherwise an entry would be skipped (a chunk
 * beyond a hole) or repeated (an overlap).
 */
export class WaitingChunks {
  #waiting: { prev: bigint; last: bigint; bytes: number; chunk: EntryChunk }[] = [];
  #bytes = 0;
  #isCut = false;
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** True when the log has entries after the cursor that are not here. */
  get isIncomplete(): boolean {
    return this.#isCut || this.#waiting.length > 0;
  }

  add(chunk: EntryChunk, cursor: bigint): void {
    const last = BigInt(chunk.last);
    if (last <= cursor) return;
    const bytes = chunkBytes(chunk);
    // The log holds what is dropped here, so the memory can be bounded.
    if (hasNoEntries(chunk) || this.#bytes + bytes > this.#bytesMax) {
      this.#isCut = true;
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

  /** Called before the log is read up to its end: the reading includes every chunk that was dropped until now. */
  markRead(): void {
    this.#isCut = false;
  }

  clear(): void {
    this.#waiting = [];
    this.#bytes = 0;
    this.#isCut = false;
  }
}

/** The entries of a chunk after the cursor. The cursor must lie within the chunk, or right before it. */
function trim(chunk: EntryChunk, cursor: bigint): EntryChunk {
  if (BigInt(chunk.prev) === cursor) return chunk;
  const actions = chunk.actions.filter((entry) => BigInt(entry.syncId) > cursor);
  const [first] = actions;
  return { ...chunk, prev: cursor.toString(), first: first?.syncId ?? chunk.last, actions };
}

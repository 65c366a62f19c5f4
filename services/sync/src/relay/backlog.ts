import { chunkAfter, chunkBytes, STREAM_LIMITS } from '@wts/log/stream';
import type { EntryChunk, StoredEntry } from '@wts/contracts';
import { SYNC_LIMITS } from '../limits.ts';

/**
 * Committed chunks that wait to be published, by the position they follow. Consecutive chunks are published as one message,
 * so a slow broker causes fewer and larger messages instead of a longer queue.
 */
export class Backlog {
  readonly #byPrev = new Map<string, EntryChunk>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: EntryChunk): void {
    const bytes = chunkBytes(chunk);
    if (this.#bytes + bytes > SYNC_LIMITS.relayBacklogBytesMax) this.clear();
    const known = this.#byPrev.get(chunk.prev);
    if (known !== undefined) this.#bytes -= chunkBytes(known);
    this.#byPrev.set(chunk.prev, chunk);
    this.#bytes += bytes;
  }

  /** The run of chunks of this epoch that begins right after `cursor`, joined up to the size of one message. */
  take(epoch: string, cursor: bigint): EntryChunk | null {
    let bytes = 0;
    let prev = cursor.toString();
    const actions: StoredEntry[] = [];
    for (;;) {
      const next = this.#byPrev.get(prev);
      if (next === undefined || next.epoch !== epoch) break;
      const size = chunkBytes(next);
      if (actions.length > 0 && bytes + size > STREAM_LIMITS.chunkBytesMax) break;
      this.#byPrev.delete(prev);
      this.#bytes -= size;
      actions.push(...next.actions);
      bytes += size;
      prev = next.last;
    }
    const [first, ...rest] = actions;
    return first === undefined ? null : chunkAfter(epoch, cursor.toString(), [first, ...rest]);
  }

  /** Removes the chunks that the stream has. */
  removeUpTo(cursor: bigint): void {
    for (const [prev, chunk] of this.#byPrev) {
      if (BigInt(chunk.last) > cursor) continue;
      this.#byPrev.delete(prev);
      this.#bytes -= chunkBytes(chunk);
    }
  }

  clear(): void {
    this.#byPrev.clear();
    this.#bytes = 0;
  }
}

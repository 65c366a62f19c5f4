import type { EntryChunk } from '@wts/contracts';
import { Entry } from '@wts/log';

/** A chunk, prepared for sockets. */
export interface RingChunk {
  readonly prev: bigint;
  readonly last: bigint;
  readonly entries: readonly Entry[];
  readonly groups: ReadonlySet<string>;
  /** People who gained or lost a group within this chunk. Almost always none. */
  readonly withGainOrLoss: ReadonlySet<string>;
  /** Its estimated size in the heap. */
  readonly bytes: number;
  /** When its last entry was committed: milliseconds since 1970. */
  readonly committedAtMs: number;
  readonly arrivedAt: number;
}

export interface RingLimits {
  readonly bytesMax: number;
  readonly ageMs: number;
}

const NO_PEOPLE: ReadonlySet<string> = new Set();
/** The size of a chunk without its entries: objects, numbers, and the set of its groups. */
const CHUNK_BYTES = 512;

/**
 * The most recent chunks, without holes. Readers behind its beginning read the log. Bounded by the estimated heap size of its
 * chunks, so it must not keep references to what they were built from.
 */
export class Ring {
  readonly #limits: RingLimits;
  #chunks: RingChunk[] = [];
  #bytes = 0;

  constructor(limits: RingLimits) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: EntryChunk): RingChunk {
    const entries = chunk.actions.map((action) => Entry.of(action));
    const withGainOrLoss = entries.filter(({ gainedOrLost }) => gainedOrLost !== null).map(({ groupId }) => groupId);
    const added: RingChunk = {
      prev: BigInt(chunk.prev),
      last: BigInt(chunk.last),
      entries,
      groups: new Set(entries.map(({ groupId }) => groupId)),
      withGainOrLoss: withGainOrLoss.length === 0 ? NO_PEOPLE : new Set(withGainOrLoss),
      bytes: entries.reduce((sum, { bytes }) => sum + bytes, CHUNK_BYTES),
      committedAtMs: Date.parse(chunk.actions.at(-1)?.createdAt ?? ''),
      arrivedAt: performance.now(),
    };
    this.#chunks.push(added);
    this.#bytes += added.bytes;
    this.trim();
    return added;
  }

  /** Removes the oldest chunks, past the age or the bound. */
  trim(): void {
    const oldest = performance.now() - this.#limits.ageMs;
    let drop = 0;
    for (const chunk of this.#chunks) {
      if (this.#bytes <= this.#limits.bytesMax && chunk.arrivedAt >= oldest) break;
      this.#bytes -= chunk.bytes;
      drop += 1;
    }
    if (drop > 0) this.#chunks = this.#chunks.slice(drop);
  }

  clear(): void {
    this.#chunks = [];
    this.#bytes = 0;
  }

  /** The chunks with entries after the cursor, or null when the ring no longer has all of them. */
  since(cursor: bigint): readonly RingChunk[] | null {
    const first = this.#chunks[0];
    if (first === undefined || cursor < first.prev) return null;
    let [low, high] = [0, this.#chunks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#chunks[middle]?.last ?? 0n) > cursor) high = middle;
      else low = middle + 1;
    }
    return this.#chunks.slice(low);
  }
}

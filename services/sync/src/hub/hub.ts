import { consume } from '@wts/log/stream';
import type { LogHead, LogPage, Logger } from '@wts/log';
import { LIMITS } from '@wts/contracts';
import type { EntryChunk } from '@wts/contracts';
import type { NatsConnection } from 'nats';
import { setTimeout as sleep } from 'node:timers/promises';
import { Ring } from './ring.ts';
import type { RingChunk, RingLimits } from './ring.ts';

/*
 * One hub per replica follows the log and keeps its recent chunks in memory; sockets pull from it by cursor.
 *
 * `hub.last` is the replica's horizon: everything up to it has been seen, in order, and nothing beyond it is shown to
 * anyone. A socket that wants to be told of news listens, but being told only means "look again": what a socket gets is
 * decided by its cursor. So there is no moment between catching up and being live in which something could be missed,
 * and no second copy of an entry to be recognized.
 *
 * Chunks come from three sides at once: committed in this process, handed over by another replica, and from the stream.
 * Whichever is first wins; `consume` keeps the order and fills what none of them brought from the log.
 *
 * Keeps sync.socket.two-replicas.
 */

/** The part of the log that a follower needs. */
export interface FollowedLog {
  head(): Promise<LogHead>;
  read(after: bigint, limit: number): Promise<LogPage>;
}

export interface HubOptions {
  readonly nc: () => NatsConnection | null;
  readonly log: FollowedLog;
  /** Chunks committed here, or handed over by other replicas. */
  readonly handover?: (offer: (chunk: EntryChunk) => void) => () => void;
  readonly ring?: RingLimits;
  readonly pollMs?: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

export interface HubListener {
  /** New entries are there, up to `chunk.last`. */
  onChunk(chunk: RingChunk): void;
  /** The log is another one, or has moved on beyond what this replica saw of it: no cursor can be gone on from. */
  onEpoch(): void;
}

/** How late a change may be seen when neither hand-over nor stream bring it. */
const POLL_MS = 100;
const OPEN_RETRY_MS = 500;

export class Hub {
  readonly #options: HubOptions;
  readonly #ring: Ring;
  readonly #listeners = new Set<HubListener>();
  #last: bigint | null = null;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#ring = new Ring(options.ring ?? { bytesMax: LIMITS.ringBytesMax, ageMs: LIMITS.ringAgeMs });
  }

  /** False until the log's head is known: nobody can be told anything before. */
  get isOpen(): boolean {
    return this.#last !== null;
  }

  get last(): bigint {
    if (this.#last === null) throw new Error('the hub is not open');
    return this.#last;
  }

  get ringBytes(): number {
    return this.#ring.bytes;
  }

  /** The chunks with entries after the cursor; null when they reach back beyond what is kept, and the log must be read. */
  since(cursor: bigint): readonly RingChunk[] | null {
    return cursor >= this.last ? [] : this.#ring.since(cursor);
  }

  listen(listener: HubListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets what is older than the ring's age, also when nothing new arrives. */
  trim(): void {
    this.#ring.trim();
  }

  /** Follows the log until the signal aborts. Rejects only for a bug: an outage is waited out. */
  async run(): Promise<void> {
    const { signal, log, nc, handover, logger, pollMs = POLL_MS } = this.#options;
    const start = await this.#findHead();
    if (start === null) return;
    this.#last = start.head;
    await consume({
      nc,
      from: start.head,
      epoch: start.epoch,
      readLog: (after, limit) => log.read(after, limit),
      readHead: () => log.head(),
      ...(handover === undefined ? {} : { handover }),
      onChunk: (chunk) => this.#advance(chunk),
      onEpoch: (changed) => this.#restart(changed),
      onTrimmed: (moved) => this.#restart(moved),
      pollMs,
      signal,
      log: logger,
    });
  }

  async #findHead(): Promise<LogHead | null> {
    const { signal, log, logger } = this.#options;
    for (let hasWarned = false; !signal.aborted; hasWarned = true) {
      try {
        return await log.head();
      } catch (error) {
        if (!hasWarned) logger.warn({ err: error }, 'the log cannot be read yet');
        await sleep(OPEN_RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    return null;
  }

  #advance(chunk: EntryChunk): void {
    const added = this.#ring.push(chunk);
    this.#last = added.last;
    for (const listener of this.#listeners) listener.onChunk(added);
  }

  #restart({ head }: LogHead): bigint {
    this.#ring.clear();
    this.#last = head;
    for (const listener of this.#listeners) listener.onEpoch();
    return head;
  }
}

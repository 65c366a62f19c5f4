import { consume, pause, STREAM_LIMITS, traceOf } from '@wts/log/stream';
import type { LogHead, LogReader, Logger } from '@wts/log';
import type { EntryChunk, LogStream } from '@wts/contracts';
import { endSpan, startMessageSpan } from '@wts/service-kit/observe';
import type { NatsConnection } from 'nats';
import { Ring, type RingChunk, type RingLimits } from './ring.ts';

/*
 * One hub per replica follows the log and keeps its recent chunks in memory; sockets pull from it by cursor.
 *
 * `hub.last` is the replica's horizon: the hub has received every entry up to it, in order, and sockets are sent nothing
 * beyond it. A listener is only notified that new entries exist; its cursor decides what it reads. So between catching up
 * and being live no entry can be missed, and none is sent twice.
 *
 * The hub receives chunks from three sources: commits of this process, the hand-over of other replicas, and the stream.
 * `consume` takes the first copy of each, keeps the order and reads from the log what none of them delivered.
 *
 * Keeps sync.socket.two-replicas.
 */

export interface HubOptions {
  readonly nc: () => NatsConnection | null;
  readonly of: LogStream;
  readonly log: Pick<LogReader, 'head' | 'read'>;
  /** Chunks committed in this process or handed over by other replicas. */
  readonly handover?: (offer: (chunk: EntryChunk) => void) => () => void;
  readonly ring?: RingLimits;
  readonly pollMs?: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

export interface HubListener {
  /** The hub has new entries, up to `chunk.last`. */
  onChunk(chunk: RingChunk): void;
  /** The log has a new epoch, or was trimmed beyond what this replica has received: no cursor is valid any more. */
  onEpoch(): void;
}

/** How often the log is read while neither hand-over nor stream deliver. */
const POLL_MS = 100;
/** How often while nothing is committed: then only the first commit of a replica without NATS is found so. */
const QUIET_POLL_MS = 1_000;
const OPEN_RETRY_MS = 500;

export class Hub {
  readonly #options: HubOptions;
  readonly #ring: Ring;
  readonly #listeners = new Set<HubListener>();
  #last: bigint | null = null;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#ring = new Ring(options.ring ?? { bytesMax: STREAM_LIMITS.ringBytesMax, ageMs: STREAM_LIMITS.ringAgeMs });
  }

  /** False until the hub has read the head of the log; sockets are refused before. */
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

  /** The chunks with entries after the cursor; null when the ring no longer has all of them and the log must be read. */
  since(cursor: bigint): readonly RingChunk[] | null {
    return cursor >= this.last ? [] : this.#ring.since(cursor);
  }

  listen(listener: HubListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Removes chunks past the ring's age, also when no new one arrives. */
  trim(): void {
    this.#ring.trim();
  }

  /** Follows the log until the signal aborts. Rejects only for a bug: during an outage it retries. */
  async run(): Promise<void> {
    const { signal, log, nc, of, handover, logger, pollMs = POLL_MS } = this.#options;
    const start = await this.#findHead();
    if (start === null) return;
    this.#last = start.head;
    await consume({
      nc,
      of,
      from: start.head,
      epoch: start.epoch,
      readLog: (after, limit) => log.read(after, limit),
      readHead: () => log.head(),
      ...(handover === undefined ? {} : { handover }),
      onChunk: (chunk) => this.#advance(chunk),
      onEpoch: (changed) => this.#restart(changed),
      onTrimmed: (trimmed) => this.#restart(trimmed),
      pollMs,
      quietPollMs: Math.max(pollMs, QUIET_POLL_MS),
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
        if (!hasWarned)
          logger.warn({ err: error }, 'the log cannot be read yet; it is tried again until PostgreSQL answers');
        await pause(OPEN_RETRY_MS, signal);
      }
    }
    return null;
  }

  #advance(chunk: EntryChunk): void {
    // Feeds send later, and their frames have no spans: there is one for each socket.
    const span = startMessageSpan(this.#options.of.subject, 'CONSUMER', traceOf(chunk));
    const added = this.#ring.push(chunk);
    this.#last = added.last;
    for (const listener of this.#listeners) listener.onChunk(added);
    endSpan(span, undefined, { 'wts.feeds': this.#listeners.size });
  }

  #restart({ head }: LogHead): bigint {
    this.#ring.clear();
    this.#last = head;
    for (const listener of this.#listeners) listener.onEpoch();
    return head;
  }
}

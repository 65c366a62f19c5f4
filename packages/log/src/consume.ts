import { LIMITS } from '@wts/contracts';
import type { EntryChunk, StoredEntry } from '@wts/contracts';
import type { Msg, NatsConnection } from 'nats';
import { Arrivals } from './arrivals.ts';
import { WakeSignal } from './wake-signal.ts';
import { chunksAfter, decodeChunk, parseMessageId } from './chunk.ts';
import { follow } from './follow.ts';
import type { Logger } from './logger.ts';

/** How long a chunk beyond a hole waits for the one before it, which often is just behind, before the log is asked. */
const HOLE_PATIENCE_MS = 5;
const LOG_PAGE = 500;
const LOG_RETRY_MS = 500;

export interface LogHead {
  /** Changes when the log may have lost its tail, as after a promotion of an asynchronous standby. */
  readonly epoch: string;
  readonly head: bigint;
}

/** A page of the log, with what the log says of itself in the same snapshot. */
export interface LogPage {
  readonly entries: readonly StoredEntry[];
  readonly head: bigint;
  readonly epoch?: string;
  /** Entries up to and including this place were trimmed. */
  readonly floor?: bigint;
}

export interface ConsumeOptions {
  /** The connection, or null while there is none. Never having one only costs freshness. */
  readonly nc: () => NatsConnection | null;
  /** Place in the log after which delivery starts. */
  readonly from: bigint;
  /** Epoch that `from` belongs to; absent means the log's own. */
  readonly epoch?: string;
  readonly readLog: (after: bigint, limit: number) => Promise<LogPage>;
  readonly readHead: () => Promise<LogHead>;
  /** Another, quicker source of committed chunks; gets the function to hand them to, returns how to stop. */
  readonly handover?: (offer: (chunk: EntryChunk) => void) => () => void;
  /** Awaited before the next chunk. A failure ends `consume` with it. */
  readonly onChunk: (chunk: EntryChunk) => void | Promise<void>;
  /** The log is another one now. Returns the place to go on from; by default its head. */
  readonly onEpoch?: (log: LogHead) => bigint | Promise<bigint>;
  /**
   * What follows the cursor was trimmed before it was delivered. Returns the place to go on from, at or past the floor.
   * Without it `consume` ends, because skipping an entry is worse than stopping.
   */
  readonly onTrimmed?: (log: LogHead & { readonly floor: bigint }) => bigint | Promise<bigint>;
  /** The log is read after this long without news. */
  readonly pollMs: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Delivers every log entry after `from` once, in order, without holes, until the signal aborts.
 *
 * PostgreSQL's log is the truth; the stream and the hand-over only bring it sooner. Whatever they bring is laid against
 * the cursor: what lies behind it is dropped, what begins at it is delivered, and what lies beyond a hole waits a
 * moment for the missing part, which is then read from the log. When nothing comes at all, the log is polled. So a
 * chunk lost, doubled, reordered or cut, a stream deleted or rewound, and a broker that is gone change when an entry
 * arrives, never whether.
 *
 * Keeps never.actions-lost.
 */
export async function consume(options: ConsumeOptions): Promise<void> {
  const consumption = new Consumption(options);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const following = follow({
    nc: options.nc,
    onMessage: (message) => consumption.hear(message),
    signal,
    log: options.log,
  });
  const stopHandover = options.handover?.((chunk) => consumption.offer(chunk));
  const wake = (): void => consumption.wakeSignal.notify();
  options.signal.addEventListener('abort', wake);
  try {
    await consumption.run();
  } finally {
    options.signal.removeEventListener('abort', wake);
    stopHandover?.();
    stop.abort();
    await following;
  }
}

class Consumption {
  readonly wakeSignal = new WakeSignal();
  readonly #arrivals = new Arrivals(LIMITS.ringBytesMax);
  readonly #options: ConsumeOptions;
  #cursor: bigint;
  #epoch: string | undefined;
  /** The log is known to hold more than has been delivered. */
  #behind = true;
  /** The log may have become another one. */
  #doubt = true;
  #heardAt = 0;
  /** Set while the log cannot be read. */
  #retryAt = 0;

  constructor(options: ConsumeOptions) {
    this.#options = options;
    this.#cursor = options.from;
    this.#epoch = options.epoch;
  }

  /** A message of the stream. Most repeat what the hand-over brought, and their name alone says so. */
  hear(message: Msg): void {
    const id = message.headers?.get('Nats-Msg-Id') ?? '';
    const place = parseMessageId(id);
    if (place !== null && place.epoch === this.#epoch && place.last <= this.#cursor) return;
    try {
      this.offer(decodeChunk(message.data));
    } catch (error) {
      this.#options.log.warn({ err: error, id }, 'unreadable chunk; reading the log instead');
      this.#behind = true;
      this.wakeSignal.notify();
    }
  }

  offer(chunk: EntryChunk): void {
    if (chunk.epoch === this.#epoch) this.#arrivals.offer(chunk, this.#cursor);
    else this.#behind = this.#doubt = true;
    this.wakeSignal.notify();
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    let holeSince: number | null = null;
    while (!signal.aborted) {
      const chunk = this.#arrivals.take(this.#cursor);
      if (chunk !== null) {
        await this.#deliver(chunk);
        holeSince = null;
        continue;
      }
      const now = performance.now();
      holeSince = this.#arrivals.incomplete ? (holeSince ?? now) : null;
      const readAt = this.#readAt(holeSince);
      if (readAt > now && (await this.wakeSignal.wait(readAt - now))) continue;
      if (signal.aborted) return;
      for (const part of await this.#readLog()) await this.#deliver(part);
      holeSince = null;
    }
  }

  #readAt(holeSince: number | null): number {
    const due = holeSince === null ? this.#heardAt + this.#options.pollMs : holeSince + HOLE_PATIENCE_MS;
    return Math.max(this.#behind ? 0 : due, this.#retryAt);
  }

  async #deliver(chunk: EntryChunk): Promise<void> {
    await this.#options.onChunk(chunk);
    this.#cursor = BigInt(chunk.last);
    this.#heardAt = performance.now();
  }

  async #readLog(): Promise<EntryChunk[]> {
    const { readLog, log } = this.#options;
    let epoch: string;
    let page: LogPage;
    try {
      epoch = this.#doubt ? await this.#settleEpoch() : (this.#epoch ?? '');
      // Before the read: what is turned away while it runs may lie beyond what it sees.
      this.#arrivals.settle();
      page = await readLog(this.#cursor, LOG_PAGE);
    } catch (error) {
      if (this.#retryAt === 0) log.warn({ err: error }, 'the log cannot be read; trying again');
      this.#retryAt = performance.now() + LOG_RETRY_MS;
      // Its absence may have been a promotion.
      this.#behind = this.#doubt = true;
      return [];
    }
    if (page.epoch !== undefined && page.epoch !== epoch) {
      this.#behind = this.#doubt = true;
      return [];
    }
    if (page.floor !== undefined && this.#cursor < page.floor) {
      await this.#leap({ epoch, head: page.head, floor: page.floor });
      return [];
    }
    this.#behind = page.entries.length >= LOG_PAGE;
    // A log that ends before the cursor is a replica that lags, or another log.
    this.#doubt = page.head < this.#cursor;
    if (this.#retryAt > 0) log.info({ cursor: this.#cursor.toString() }, 'the log can be read again');
    this.#retryAt = 0;
    this.#heardAt = performance.now();
    return chunksAfter(epoch, this.#cursor.toString(), page.entries);
  }

  async #leap(moved: LogHead & { readonly floor: bigint }): Promise<void> {
    const { onTrimmed, log } = this.#options;
    const [from, floor] = [this.#cursor.toString(), moved.floor.toString()];
    if (onTrimmed === undefined)
      throw new Error(`the log was trimmed up to ${floor}; ${from} was as far as it was read`);
    log.warn({ from, floor }, 'the log was trimmed beyond what was read of it');
    this.#cursor = await onTrimmed(moved);
    this.#arrivals.clear();
    this.#behind = true;
  }

  async #settleEpoch(): Promise<string> {
    const { readHead, onEpoch, log } = this.#options;
    const head = await readHead();
    if (this.#epoch !== undefined && this.#epoch !== head.epoch) {
      log.warn({ from: this.#epoch, to: head.epoch, head: head.head.toString() }, 'the log has a new epoch');
      this.#cursor = onEpoch === undefined ? head.head : await onEpoch(head);
      this.#arrivals.clear();
    }
    this.#epoch = head.epoch;
    return head.epoch;
  }
}

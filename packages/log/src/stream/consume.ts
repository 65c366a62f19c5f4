import { addAbortListener } from 'node:events';
import { STREAM, type EntryChunk, type LogStream } from '@wts/contracts';
import type { Msg, NatsConnection } from 'nats';
import { WaitingChunks } from './waiting-chunks.ts';
import { WakeSignal } from './wake-signal.ts';
import { chunkOfMessage, chunksAfter, parseMessageId } from './chunk.ts';
import { follow } from './follow.ts';
import type { LogHead, LogPage } from '../log-reader.ts';
import { seldomWarning, type Logger } from '../logger.ts';
import { STREAM_LIMITS } from './limits.ts';

/** How long a chunk beyond a hole waits for the chunk before it, which often follows, before the log is read. */
const HOLE_WAIT_MS = 5;
const LOG_PAGE = 500;
const QUIET_AFTER_MS = 1_000;
const LOG_RETRY_MS = 500;

export interface ConsumeOptions {
  /** The connection, or null while there is none: entries then arrive later, from the log. */
  readonly nc: () => NatsConnection | null;
  /** By default that of log 0. */
  readonly of?: LogStream;
  /** Delivery starts after this position. */
  readonly from: bigint;
  /** Epoch of `from`; by default the current one of the log. */
  readonly epoch?: string;
  readonly readLog: (after: bigint, limit: number) => Promise<LogPage>;
  readonly readHead: () => Promise<LogHead>;
  /** A quicker source of committed chunks than the stream: calls `offer` for each, returns the function that stops it. */
  readonly handover?: (offer: (chunk: EntryChunk) => void) => () => void;
  /** Awaited before the next chunk. `consume` rejects when it fails. */
  readonly onChunk: (chunk: EntryChunk) => void | Promise<void>;
  /** Called when the epoch changed. Returns the position to continue from; by default the head. */
  readonly onEpoch?: (log: LogHead) => bigint | Promise<bigint>;
  /**
   * Called when entries after the cursor were trimmed before they were delivered. Returns the position to continue from, at or
   * past the floor. Without it `consume` rejects, because skipping an entry is worse than stopping.
   */
  readonly onTrimmed?: (log: LogHead & { readonly floor: bigint }) => bigint | Promise<bigint>;
  /** The log is read when nothing arrived for this long. */
  readonly pollMs: number;
  /** The same while there is a connection and nothing has arrived for QUIET_AFTER_MS; by default `pollMs`. */
  readonly quietPollMs?: number;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Delivers every log entry after `from` once, in order, without holes, until the signal aborts.
 *
 * The log in PostgreSQL is authoritative; the stream and the handover only deliver it sooner. Each chunk is compared with the
 * cursor: a chunk up to the cursor is dropped, a chunk that begins at it is delivered, and a chunk beyond a hole waits
 * HOLE_WAIT_MS for the missing entries, which are then read from the log. When nothing arrives, the log is polled. So a fault can
 * delay an entry but never lose or repeat it: a chunk that is lost, doubled, reordered or cut, a stream that is deleted or
 * restored from a backup, a broker that is down.
 *
 * Keeps never.actions-lost.
 */
export async function consume(options: ConsumeOptions): Promise<void> {
  const consumption = new Consumption(options);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  const following = follow({
    nc: options.nc,
    of: options.of ?? STREAM,
    onMessage: (message) => consumption.receive(message),
    signal,
    log: options.log,
  });
  const stopHandover = options.handover?.((chunk) => consumption.offer(chunk));
  using _waking = addAbortListener(options.signal, () => consumption.wakeSignal.notify());
  try {
    await consumption.run();
  } finally {
    stopHandover?.();
    stop.abort();
    await following;
  }
}

class Consumption {
  readonly wakeSignal = new WakeSignal();
  readonly #waiting = new WaitingChunks(STREAM_LIMITS.ringBytesMax);
  readonly #options: ConsumeOptions;
  readonly #warnOfUnreadable: (fields: object) => void;
  #cursor: bigint;
  #epoch: string | undefined;
  /** True when the log has entries that are not delivered. */
  #isBehind = true;
  /** True when the epoch may have changed. */
  #mustCheckEpoch = true;
  /** When entries last arrived or the log was last read. */
  #upToDateAt = 0;
  /** When entries last arrived. */
  #deliveredAt = performance.now();
  /** Set while the log cannot be read. */
  #retryAt = 0;

  constructor(options: ConsumeOptions) {
    this.#options = options;
    this.#warnOfUnreadable = seldomWarning(options.log, 'unreadable chunk; the log is read instead');
    this.#cursor = options.from;
    this.#epoch = options.epoch;
  }

  /** A message of the stream. Most repeat a chunk of the handover: the message id shows that, without decoding. */
  receive(message: Msg): void {
    const id = message.headers?.get('Nats-Msg-Id') ?? '';
    const named = parseMessageId(id);
    if (named !== null && named.epoch === this.#epoch && named.last <= this.#cursor) return;
    try {
      this.offer(chunkOfMessage(message, this.#options.of?.shard));
    } catch (error) {
      this.#warnOfUnreadable({ err: error, id });
      this.#isBehind = true;
      this.wakeSignal.notify();
    }
  }

  offer(chunk: EntryChunk): void {
    if (chunk.epoch === this.#epoch) this.#waiting.add(chunk, this.#cursor);
    else this.#isBehind = this.#mustCheckEpoch = true;
    this.wakeSignal.notify();
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    let holeSince: number | null = null;
    while (!signal.aborted) {
      const chunk = this.#waiting.take(this.#cursor);
      if (chunk !== null) {
        await this.#deliver(chunk);
        holeSince = null;
        continue;
      }
      const now = performance.now();
      holeSince = this.#waiting.isIncomplete ? (holeSince ?? now) : null;
      const readAt = this.#readAt(holeSince);
      if (readAt > now && (await this.wakeSignal.wait(readAt - now))) continue;
      if (signal.aborted) return;
      for (const read of await this.#readLog()) await this.#deliver(read);
      holeSince = null;
    }
  }

  #readAt(holeSince: number | null): number {
    const due = holeSince === null ? this.#upToDateAt + this.#pollMs : holeSince + HOLE_WAIT_MS;
    return Math.max(this.#isBehind ? 0 : due, this.#retryAt);
  }

  get #pollMs(): number {
    const { nc, pollMs, quietPollMs = pollMs } = this.#options;
    const isQuiet = performance.now() - this.#deliveredAt > QUIET_AFTER_MS;
    return isQuiet && nc() !== null ? quietPollMs : pollMs;
  }

  async #deliver(chunk: EntryChunk): Promise<void> {
    await this.#options.onChunk(chunk);
    this.#cursor = BigInt(chunk.last);
    this.#upToDateAt = this.#deliveredAt = performance.now();
  }

  async #readLog(): Promise<EntryChunk[]> {
    const { readLog, log } = this.#options;
    let epoch: string;
    let page: LogPage;
    try {
      epoch = this.#mustCheckEpoch ? await this.#checkEpoch() : (this.#epoch ?? '');
      // Before the read, because a chunk that is dropped during the read may be later than what the read returns.
      this.#waiting.markRead();
      page = await readLog(this.#cursor, LOG_PAGE);
    } catch (error) {
      if (this.#retryAt === 0) log.warn({ err: error }, 'the log cannot be read; trying again. Check PostgreSQL');
      this.#retryAt = performance.now() + LOG_RETRY_MS;
      // While PostgreSQL was unavailable, a standby may have been promoted.
      this.#isBehind = this.#mustCheckEpoch = true;
      return [];
    }
    if (page.epoch !== undefined && page.epoch !== epoch) {
      this.#isBehind = this.#mustCheckEpoch = true;
      return [];
    }
    if (page.floor !== undefined && this.#cursor < page.floor) {
      await this.#skipTrimmed({ epoch, head: page.head, floor: page.floor });
      return [];
    }
    this.#isBehind = page.entries.length >= LOG_PAGE;
    // A log that ends before the cursor is a database replica that lags, or has another epoch.
    this.#mustCheckEpoch = page.head < this.#cursor;
    if (this.#retryAt > 0) log.info({ cursor: this.#cursor.toString() }, 'the log can be read again');
    this.#retryAt = 0;
    this.#upToDateAt = performance.now();
    return chunksAfter(epoch, this.#cursor.toString(), page.entries);
  }

  async #skipTrimmed(trimmed: LogHead & { readonly floor: bigint }): Promise<void> {
    const { onTrimmed, log } = this.#options;
    const [from, floor] = [this.#cursor.toString(), trimmed.floor.toString()];
    if (onTrimmed === undefined) throw new Error(`the log was trimmed up to ${floor}; it had been read up to ${from}`);
    log.warn({ from, floor }, 'entries were trimmed before they were read');
    this.#cursor = await onTrimmed(trimmed);
    this.#waiting.clear();
    this.#isBehind = true;
  }

  async #checkEpoch(): Promise<string> {
    const { readHead, onEpoch, log } = this.#options;
    const head = await readHead();
    if (this.#epoch !== undefined && this.#epoch !== head.epoch) {
      log.warn({ from: this.#epoch, to: head.epoch, head: head.head.toString() }, 'the log has a new epoch');
      this.#cursor = onEpoch === undefined ? head.head : await onEpoch(head);
      this.#waiting.clear();
    }
    this.#epoch = head.epoch;
    return head.epoch;
  }
}

import { WakeSignal, chunksAfter, ensureStream, hasNoEntries, openPublisher, pause } from '@wts/log/stream';
import type { Logger } from '@wts/log';
import type { Publisher } from '@wts/log/stream';
import type { EntryChunk, StoredEntry } from '@wts/contracts';
import { tryLease } from '@wts/service-kit/postgres';
import type { Lease } from '@wts/service-kit/postgres';
import type { NatsConnection } from 'nats';
import { Backlog } from './backlog.ts';
import type { Handover } from './handover.ts';
import type { RelayMetrics } from './metrics.ts';

/*
 * The relay copies the log into the stream: every entry, in order, once.
 *
 * One replica does it at a time, the holder of a lease; the lease spares work and is not what keeps the order. That is
 * done by the stream itself, which takes a chunk only after the one it names as its predecessor (`openPublisher`). The
 * relay keeps no cursor of its own: the stream's last message is the cursor. So whatever happens (a crash between commit
 * and publish, an answer that got lost, a relay that slept and wakes beside its successor, a stream that was deleted,
 * emptied or cut) the next step is always the same: ask where the stream ends, go on from there.
 *
 * Chunks come by hand-over in the moment of their commit. What the hand-over does not bring is read from the log, at the
 * latest POLL_MS after its commit.
 *
 * Keeps sync.log.relay.
 */

export interface RelayOptions {
  readonly nc: () => NatsConnection | null;
  readonly log: {
    head(): Promise<{ epoch: string; head: bigint; floor: bigint }>;
    read(
      after: bigint,
      limit: number,
    ): Promise<{ entries: readonly StoredEntry[]; head: bigint; epoch: string; floor: bigint }>;
  };
  readonly handover: Handover;
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly streamReplicas: number;
  readonly metrics: RelayMetrics;
  readonly logger: Logger;
  readonly leaseSilenceMaxMs?: number;
}

export interface Relay extends AsyncDisposable {
  /** True while this replica is the one that relays. */
  readonly isHolding: boolean;
}

/** An empty stream gets this much of the past, so that whoever looks finds a beginning. */
const REFILL_ENTRIES = 10_000n;
const LEASE_KEY = 7_368_012;
const LEASE_RETRY_MS = 500;
const POLL_MS = 50;
const LOG_PAGE = 500;
const FAILURE_PAUSE_MS = 250;
const FAILURES_MAX = 8;
/** Two relays that meet for a moment must not chase each other. */
const RESTART_PAUSE_MS = 10;

export function startRelay(options: RelayOptions): Relay {
  const relay = new RelayLoop(options);
  const stopping = new AbortController();
  const done = relay.run(stopping.signal);
  return {
    get isHolding() {
      return relay.isHolding;
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      relay.wakeSignal.notify();
      await done;
    },
  };
}

class RelayLoop {
  readonly wakeSignal = new WakeSignal();
  isHolding = false;
  readonly #options: RelayOptions;
  readonly #backlog = new Backlog();
  #isFailing = false;
  /** When the log is read next, unless the hand-over brings what follows. */
  #readAt = 0;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { databaseUrl: url, handover, logger, leaseSilenceMaxMs } = this.#options;
    const silence = leaseSilenceMaxMs === undefined ? {} : { silenceMaxMs: leaseSilenceMaxMs };
    const stopListening = handover.listen((chunk) => this.#accept(chunk));
    while (!signal.aborted) {
      try {
        await using lease = await tryLease({ url, key: LEASE_KEY, name: 'wts-sync-relay', logger, ...silence });
        if (lease !== null) await this.#relayWhileHolding(lease, signal);
      } catch (error) {
        this.#warnOnce(error);
      }
      await pause(LEASE_RETRY_MS * (0.5 + Math.random()), signal);
    }
    stopListening();
  }

  #accept(chunk: EntryChunk): void {
    // Without the lease the chunks are for somebody else, and nothing may pile up here.
    if (!this.isHolding || hasNoEntries(chunk)) return;
    this.#backlog.add(chunk);
    this.wakeSignal.notify();
  }

  async #relayWhileHolding(lease: Lease, stop: AbortSignal): Promise<void> {
    const { logger, metrics } = this.#options;
    const ended = AbortSignal.any([lease.lost, stop]);
    const wake = (): void => this.wakeSignal.notify();
    ended.addEventListener('abort', wake);
    this.isHolding = true;
    metrics.holding.set(1);
    logger.info({}, 'this replica relays');
    try {
      // A holder that cannot reach the broker gives way: another replica may.
      for (let failures = 0; failures < FAILURES_MAX && !ended.aborted;) {
        try {
          await this.#relay(ended);
          failures = 0;
          await pause(RESTART_PAUSE_MS, ended);
        } catch (error) {
          failures += 1;
          this.#warnOnce(error);
          await pause(FAILURE_PAUSE_MS, ended);
        }
      }
    } finally {
      ended.removeEventListener('abort', wake);
      this.isHolding = false;
      metrics.holding.set(0);
      this.#backlog.clear();
    }
  }

  /** Goes on from where the stream ends, until something is not as expected: then where it ends must be asked again. */
  async #relay(ended: AbortSignal): Promise<void> {
    const { nc, log, streamReplicas } = this.#options;
    const connection = nc();
    if (connection === null) throw new Error('no connection to NATS');
    await ensureStream(connection, { replicas: streamReplicas });
    const publisher = openPublisher(connection);
    const end = await publisher.last();
    const place = await log.head();
    const { epoch } = place;
    let cursor = startAfter(end, place);
    this.#readAt = 0;
    this.#recovered(cursor);
    while (!ended.aborted && nc() === connection) {
      const chunks = await this.#next(epoch, cursor);
      if (chunks === null) continue;
      if (chunks === 'log-changed') return;
      for (const chunk of chunks) {
        if (!(await this.#publish(publisher, chunk))) return;
        cursor = BigInt(chunk.last);
      }
    }
  }

  /**
   * What follows the cursor: from the backlog, else from the log once it is time to read it. Null: look again. Elsewhere:
   * the log is another one now, or no longer holds what follows the cursor.
   */
  async #next(epoch: string, cursor: bigint): Promise<EntryChunk[] | 'log-changed' | null> {
    const handed = this.#backlog.take(epoch, cursor);
    if (handed !== null) {
      this.#readAt = performance.now() + POLL_MS;
      // A commit may be larger than a message.
      return chunksAfter(epoch, handed.prev, handed.actions);
    }
    const waitMs = this.#readAt - performance.now();
    if (waitMs > 0) {
      await this.wakeSignal.wait(waitMs);
      return null;
    }
    const page = await this.#options.log.read(cursor, LOG_PAGE);
    if (page.epoch !== epoch || cursor < page.floor) return 'log-changed';
    this.#readAt = page.entries.length < LOG_PAGE ? performance.now() + POLL_MS : 0;
    this.#backlog.forgetUpTo(cursor);
    this.#options.metrics.behind.set(Number(page.head - cursor));
    return chunksAfter(epoch, cursor.toString(), page.entries);
  }

  async #publish(publisher: Publisher, chunk: EntryChunk): Promise<boolean> {
    const { metrics, logger } = this.#options;
    const stop = metrics.publishSeconds.startTimer();
    const outcome = await publisher.publish(chunk);
    stop();
    if (outcome === 'stored') {
      metrics.relayed.inc(chunk.actions.length);
      return true;
    }
    logger.info({ outcome, first: chunk.first, last: chunk.last }, 'the stream does not end where this relay left it');
    return false;
  }

  #warnOnce(error: unknown): void {
    if (!this.#isFailing) this.#options.logger.warn({ err: error }, 'relaying is held up; trying again');
    this.#isFailing = true;
  }

  #recovered(cursor: bigint): void {
    if (this.#isFailing) this.#options.logger.info({ cursor: cursor.toString() }, 'relaying goes on');
    this.#isFailing = false;
  }
}

/** Who is behind the beginning of the stream reads the log, so any place is right; some are more useful. */
function startAfter(end: { last: bigint } | null, { head, floor }: { head: bigint; floor: bigint }): bigint {
  if (end === null) return head - floor > REFILL_ENTRIES ? head - REFILL_ENTRIES : floor;
  // What was trimmed, or lies before the gap of a new epoch, is nothing the stream could still bring.
  if (end.last < floor) return floor;
  return end.last <= head ? end.last : head;
}

import {
  WakeSignal,
  chunksAfter,
  ensureStream,
  hasNoEntries,
  openPublisher,
  pause,
  STREAM_LIMITS,
  traceOf,
} from '@wts/log/stream';
import type { Logger, LogReader } from '@wts/log';
import type { Publisher } from '@wts/log/stream';
import type { EntryChunk, LogStream } from '@wts/contracts';
import { every, type BackgroundContext, type BackgroundWork, type Run } from '@wts/service-kit/background';
import { endSpan, headerOf, startMessageSpan } from '@wts/service-kit/observe';
import type { NatsConnection } from 'nats';
import { addAbortListener } from 'node:events';
import { Backlog } from './backlog.ts';
import type { Handover } from './handover.ts';
import type { RelayMetrics } from './metrics.ts';

/*
 * The relay copies the log into the stream: every entry, in order, once.
 *
 * One replica at a time relays, the holder of a lease. The lease saves work; the order does not depend on it, because the
 * stream accepts a chunk only after the one that the chunk names as its predecessor (`openPublisher`). The relay stores no
 * cursor: the last message of the stream is the cursor. So after any failure (a crash between commit and publish, a lost
 * acknowledgement, two relays during a lease change, a stream that was deleted, emptied or cut) the relay does the same: it
 * reads where the stream ends and continues from there.
 *
 * The hand-over delivers chunks as they are committed. What it does not deliver is read from the log: HOLE_MS after a later chunk, and else
 * within READ_MS, because then only a commit of a replica without NATS comes so. Sockets do not wait for it: each hub reads the log.
 *
 * A commit after a pause is published at once; under load, what was committed within GATHER_MS is one message. Replicas do not wait
 * for it, because they have the hand-over: without this, the broker would take a tenth of the CPU of a change.
 *
 * Keeps sync.log.relay.
 */

export interface RelayOptions {
  readonly nc: () => NatsConnection | null;
  readonly of: LogStream;
  readonly log: Pick<LogReader, 'head' | 'read' | 'before'>;
  readonly handover: Handover;
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly streamReplicas: number;
  readonly metrics: RelayMetrics;
  readonly logger: Logger;
  readonly leaseSilenceMaxMs?: number;
}

/** The number of past entries that an empty stream gets, so that consumers can resume from it. */
const REFILL_ENTRIES = 10_000;
const LEASE_KEY = 7_368_012;
const LEASE_RETRY_MS = 500;
const HOLE_MS = 50;
const READ_MS = 1_000;
export const GATHER_MS = 25;
const LOG_PAGE = 500;
const FAILURE_PAUSE_MS = 250;
const FAILURES_MAX = 8;
/** Keeps two relays during a lease change from retrying against each other without a pause. */
const RESTART_PAUSE_MS = 10;

export function startRelay(context: BackgroundContext, options: RelayOptions): BackgroundWork {
  const { databaseUrl: url, leaseSilenceMaxMs: silenceMaxMs } = options;
  const relay = new RelayLoop(options);
  return every(context, {
    name: 'relay',
    everyMs: LEASE_RETRY_MS,
    lease: { url, key: LEASE_KEY, silenceMaxMs },
    run: (run) => relay.run(run),
    failing:
      'the relay cannot publish to the stream; sockets still receive changes, and it tries again. Check NATS and PostgreSQL',
  });
}

class RelayLoop {
  readonly #options: RelayOptions;
  readonly #backlog = new Backlog();
  readonly #wakeSignal = new WakeSignal();
  /** When the log is read next, unless the hand-over delivers the next chunk. */
  #readAt = 0;
  #publishedAt = -Infinity;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  async run(run: Run): Promise<void> {
    const { signal: ended } = run;
    using _waking = addAbortListener(ended, () => this.#wakeSignal.notify());
    // Without the lease another replica publishes the chunks, so they must not wait here.
    const stopListening = this.#options.handover.listen((chunk) => this.#accept(chunk));
    this.#options.logger.info({}, 'this replica holds the relay lease');
    try {
      for (let failures = 0; !ended.aborted;) {
        try {
          await this.#relay(run);
          failures = 0;
          await pause(RESTART_PAUSE_MS, ended);
        } catch (error) {
          failures += 1;
          // After so many failures the run fails and its lease is released, because another replica may reach the broker.
          if (failures === FAILURES_MAX) throw error;
          run.failed(error);
          await pause(FAILURE_PAUSE_MS, ended);
        }
      }
    } finally {
      stopListening();
      this.#backlog.clear();
    }
  }

  #accept(chunk: EntryChunk): void {
    if (hasNoEntries(chunk)) return;
    this.#backlog.add(chunk);
    this.#wakeSignal.notify();
  }

  /** Publishes from the end of the stream on; returns when that end has to be read again. */
  async #relay({ signal: ended, succeeded }: Run): Promise<void> {
    const { nc, of, log, streamReplicas } = this.#options;
    const connection = nc();
    if (connection === null) throw new Error('no connection to NATS');
    await ensureStream(connection, { replicas: streamReplicas, of });
    const publisher = openPublisher(connection, of);
    const end = await publisher.last();
    const bounds = await log.head();
    const { epoch } = bounds;
    let cursor = end === null ? await log.before(REFILL_ENTRIES) : startAfter(end, bounds);
    this.#readAt = 0;
    while (!ended.aborted && nc() === connection) {
      const chunks = await this.#next(epoch, cursor, ended);
      if (chunks === null) continue;
      if (chunks === 'log-changed') return;
      for (const chunk of chunks) {
        if (!(await this.#publish(publisher, chunk))) return;
        cursor = BigInt(chunk.last);
        this.#publishedAt = performance.now();
      }
      succeeded();
    }
  }

  /**
   * The chunks after the cursor: from the backlog, or from the log when it is time to read it. Null when there is none yet;
   * `log-changed` when the log has a new epoch or no longer holds what follows the cursor.
   */
  async #next(epoch: string, cursor: bigint, ended: AbortSignal): Promise<EntryChunk[] | 'log-changed' | null> {
    const gatherMs = this.#publishedAt + GATHER_MS - performance.now();
    if (gatherMs > 0 && this.#backlog.bytes < STREAM_LIMITS.chunkBytesMax) await pause(gatherMs, ended);
    const handed = this.#backlog.take(epoch, cursor);
    if (handed !== null) {
      this.#readAt = performance.now() + READ_MS;
      // A commit may be larger than one message.
      return chunksAfter(epoch, handed.prev, handed.actions);
    }
    // What was handed over is behind a hole.
    if (this.#backlog.bytes > 0) this.#readAt = Math.min(this.#readAt, performance.now() + HOLE_MS);
    const waitMs = this.#readAt - performance.now();
    if (waitMs > 0) {
      await this.#wakeSignal.wait(waitMs);
      return null;
    }
    const page = await this.#options.log.read(cursor, LOG_PAGE);
    if (page.epoch !== epoch || cursor < page.floor) return 'log-changed';
    this.#readAt = page.entries.length < LOG_PAGE ? performance.now() + READ_MS : 0;
    this.#backlog.removeUpTo(cursor);
    this.#options.metrics.behind.set(page.entries.length);
    return chunksAfter(epoch, cursor.toString(), page.entries);
  }

  async #publish(publisher: Publisher, chunk: EntryChunk): Promise<boolean> {
    const { metrics, logger } = this.#options;
    const stop = metrics.publishSeconds.startTimer();
    const span = startMessageSpan(this.#options.of.subject, 'PRODUCER', traceOf(chunk));
    let outcome: Awaited<ReturnType<Publisher['publish']>>;
    try {
      outcome = await publisher.publish(chunk, span === null ? undefined : headerOf(span));
    } catch (failure) {
      endSpan(span, failure);
      throw failure;
    }
    endSpan(span);
    stop();
    if (outcome === 'stored') {
      metrics.relayed.inc(chunk.actions.length);
      return true;
    }
    logger.info(
      { outcome, first: chunk.first, last: chunk.last },
      'the stream does not end where this relay left it; the relay continues from its end',
    );
    return false;
  }
}

/** Any start is correct, because consumers behind the beginning of the stream read the log; these keep the stream useful. */
function startAfter(end: { last: bigint }, { head, floor }: { head: bigint; floor: bigint }): bigint {
  // The log no longer has entries below its floor.
  if (end.last < floor) return floor;
  return end.last <= head ? end.last : head;
}

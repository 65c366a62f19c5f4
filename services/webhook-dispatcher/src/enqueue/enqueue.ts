import { STREAM } from '@wts/contracts';
import type { EntryChunk } from '@wts/contracts';
import { LogReader } from '@wts/log';
import { consume, decodeChunk, hasNoEntries, pause } from '@wts/log/stream';
import type { Logger } from '@wts/log';
import { subscribe, type Nats } from '@wts/service-kit/nats';
import { startLeasedWork, type LeasedWork } from '@wts/service-kit/postgres';
import type { Pool } from 'pg';
import { openCursor } from '../store/enqueue.ts';
import type { EnqueueMetrics } from './metrics.ts';
import { Steps } from './steps.ts';

/*
 * Every entry of the log becomes its event and the deliveries of that event, in order, once.
 *
 * One replica does it at a time, the holder of a lease; the lease saves work and does not keep the order. That is done
 * by the cursor in PostgreSQL: events, deliveries and the step of the cursor are one statement, which changes nothing when
 * the cursor is not where the step begins. So after any fault (a crash between two steps, an answer that
 * was lost, a replica that was suspended and continues beside its successor, a message that came twice, late or never) the next step
 * is the same: read the cursor and continue from it.
 *
 * Entries come from the hand-over in the moment of their commit, or from the stream; `consume` reads from the log what they
 * did not bring.
 *
 * Keeps events.source.every-client, events.source.never-skipped and, up to the lanes, webhooks.order.commit.
 */

export interface EnqueueOptions {
  readonly pool: Pool;
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly nats: Pick<Nats, 'connection' | 'onConnect'>;
  /** Called after the commit, with the endpoints that have new deliveries. */
  readonly onEnqueued: (endpointIds: readonly string[]) => void;
  readonly metrics: EnqueueMetrics;
  readonly logger: Logger;
  readonly leaseSilenceMaxMs?: number;
}

const LEASE_KEY = 7_368_021;
/** How late a change may be seen when neither hand-over nor stream bring it. */
const POLL_MS = 250;
const RETRY_MS = 500;

export function openEnqueue(options: EnqueueOptions): LeasedWork {
  const { databaseUrl: url, logger, leaseSilenceMaxMs: silenceMaxMs, metrics } = options;
  const enqueuing = new Enqueuing(options);
  return startLeasedWork({
    url,
    key: LEASE_KEY,
    name: 'wts-webhooks-enqueue',
    logger,
    silenceMaxMs,
    hold: (ended) => enqueuing.hold(ended),
    holding: metrics.holding,
    onFailure: (error) => enqueuing.warn(error),
  });
}

class Enqueuing {
  readonly #options: EnqueueOptions;
  readonly #log: LogReader;
  #offer: ((chunk: EntryChunk) => void) | null = null;
  #isFailing = false;

  constructor(options: EnqueueOptions) {
    this.#options = options;
    this.#log = new LogReader(options.pool);
    subscribe(options.nats, STREAM.handover, ({ data }) => this.#accept(data));
  }

  async hold(ended: AbortSignal): Promise<void> {
    this.#options.logger.info({}, 'this replica turns the log into events');
    while (!ended.aborted && (await this.#follow(ended)));
  }

  warn(error: unknown): void {
    if (!this.#isFailing) this.#options.logger.warn({ err: error }, 'events are held up; trying again');
    this.#isFailing = true;
  }

  #accept(data: Uint8Array): void {
    if (this.#offer === null) return;
    try {
      const chunk = decodeChunk(data);
      if (!hasNoEntries(chunk)) this.#offer(chunk);
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'unreadable chunk handed over; the log has it');
    }
  }

  /** Continues from the cursor. Resolves with whether this replica should do so again, under the same lease. */
  async #follow(ended: AbortSignal): Promise<boolean> {
    const { pool, nats, onEnqueued, metrics, logger } = this.#options;
    const cursor = await openCursor(pool);
    this.#recovered(cursor.position);
    const stop = new AbortController();
    const signal = AbortSignal.any([ended, stop.signal]);
    const steps = new Steps({ pool, cursor, onEnqueued, metrics, logger, signal });
    // Handled at once: consume ends only a moment after a step failed.
    const stepping = steps
      .run()
      .catch((error: unknown) => {
        if (!ended.aborted) this.warn(error);
      })
      .finally(() => stop.abort());
    let isOtherLog = false;
    try {
      await consume({
        nc: () => nats.connection(),
        from: cursor.position,
        epoch: cursor.epoch,
        readLog: async (after, limit) => {
          const page = await this.#log.read(after, limit);
          metrics.behind.set(Math.max(0, Number(page.head - steps.passed)));
          return page;
        },
        readHead: () => this.#log.head(),
        handover: (offer) => {
          this.#offer = offer;
          return () => (this.#offer = null);
        },
        onChunk: (chunk) => steps.take(chunk),
        onEpoch: ({ head }) => {
          isOtherLog = true;
          stop.abort();
          return head;
        },
        onTrimmed: ({ floor }) => steps.skipTo(floor),
        pollMs: POLL_MS,
        signal,
        log: logger,
      });
    } finally {
      stop.abort();
      await stepping;
    }
    if (isOtherLog) return true;
    if (!ended.aborted) await pause(RETRY_MS, ended);
    return false;
  }

  #recovered(position: bigint): void {
    if (this.#isFailing) this.#options.logger.info({ position: position.toString() }, 'events are made again');
    this.#isFailing = false;
  }
}

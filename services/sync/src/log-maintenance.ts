import type { LogReader } from '@wts/log';
import { every, type BackgroundContext, type BackgroundWork, type RunResult } from '@wts/service-kit/background';
import type { Logger } from '@wts/service-kit/observe';
import type { Pool } from 'pg';
import { logMetrics } from './metrics.ts';
import { beginEpochAfterPromotion } from './store/log.ts';
import { dropDetached, dropPartition, listPartitions, makePartitions } from './store/partitions.ts';
import { deleteOldIdempotencyKeys } from './store/idempotency-keys.ts';
import { positionsPerEntry } from './store/positions.ts';
import { findFloor, findTrimmed, FLOOR_AGE_MS_MIN, measureLog, raiseFloor, type Retention } from './store/retention.ts';

const EVERY_MS = 10_000;
/** Other replicas may do the work next. */
const MEASURED_MS = 60_000;
const LEASE_KEY = 7_368_013;
const PARTITION_ENTRIES = 1_000_000;
const YOUNGEST_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface LogMaintenanceOptions {
  readonly pool: Pool;
  readonly log: LogReader;
  readonly retention: Retention;
  /** Small enough that a drop trims little, large enough that a long log has few partitions. */
  readonly partitionEntries?: number;
  /** How long a floor is in force before the partitions below it are dropped. */
  readonly floorAgeMsMin?: number;
  readonly logger: Pick<Logger, 'info'>;
}

/** The settings, in the units of the store. */
export function retentionOf({ days, entries }: { days: number; entries?: number | undefined }): Retention {
  return { ageMs: days * DAY_MS, entries, youngestMs: YOUNGEST_MS };
}

/**
 * Maintains the log: a new epoch after a promotion, partitions ahead of the head, and the removal of idempotency keys and entries
 * past their retention.
 */
export function maintainLog(
  context: BackgroundContext,
  options: LogMaintenanceOptions & { readonly databaseUrl: string; readonly everyMs?: number },
): BackgroundWork {
  const { databaseUrl: url, everyMs = EVERY_MS, pool } = options;
  const measured = logMetrics(context.metrics, options.retention.ageMs);
  let measuredAt = -Infinity;
  return every(context, {
    name: 'log-maintenance',
    everyMs,
    lease: { url, key: LEASE_KEY },
    run: async ({ signal }) => {
      if (performance.now() - measuredAt > MEASURED_MS) {
        measured(await measureLog(pool));
        measuredAt = performance.now();
      }
      return maintainLogOnce(options, signal);
    },
    failing: 'maintenance of the log failed; it is tried again every few seconds. Check PostgreSQL',
  });
}

export async function maintainLogOnce(options: LogMaintenanceOptions, signal?: AbortSignal): Promise<RunResult> {
  const { pool, log } = options;
  await beginEpochAfterPromotion(pool);
  const { head } = await log.head();
  await makePartitions(
    pool,
    head,
    BigInt(options.partitionEntries ?? PARTITION_ENTRIES) * (await positionsPerEntry(pool)),
  );
  // Before the trim, because that waits for readers of the log, and a table of keys without deletions grows by every change.
  const hasMoreKeys = await deleteOldIdempotencyKeys(pool);
  await trim(options, head, signal);
  return hasMoreKeys ? 'more' : 'done';
}

/** Drops the partitions below the floor, then raises the floor: so each floor is in force for a while before the drop. */
async function trim(
  { pool, retention, floorAgeMsMin, logger }: LogMaintenanceOptions,
  head: bigint,
  signal?: AbortSignal,
): Promise<void> {
  await dropDetached(pool);
  const partitions = await listPartitions(pool);
  for (const partition of await findTrimmed(pool, partitions, floorAgeMsMin ?? FLOOR_AGE_MS_MIN)) {
    await dropPartition(pool, partition, signal);
    logger.info(
      { from: partition.from.toString(), to: partition.to.toString() },
      'dropped a partition of old log entries',
    );
  }
  const floor = await findFloor(pool, partitions, head, retention);
  if (floor !== null && (await raiseFloor(pool, floor))) {
    logger.info(
      { floor: floor.toString() },
      'raised the floor of the log; clients with a cursor below it load everything again',
    );
  }
}

import type { Logger } from '@wts/log';
import { startRounds } from '@wts/service-kit/life';
import { tryLease } from '@wts/service-kit/postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { listDeleted, removeHistory, removeWithoutHistory } from './store/deleted-endpoints.ts';
import { dropOld, makePartitions } from './store/partitions.ts';
import { moveIdleCursors } from './store/workspaces.ts';

const EVERY_MS = 60_000;
const LEASE_KEY = 7_368_022;
/** Between two chunks of history: what is removed in the background must not hold up what is written. */
const CHUNK_PAUSE_MS = 100;

export interface TableMaintenanceOptions {
  readonly pool: Pool;
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly everyMs?: number;
  readonly logger: Logger;
}

/**
 * Maintains the tables of webhooks in rounds: partitions ahead, and the removal of what is past its days and of the history of
 * deleted endpoints. One replica at a time does it, by a lease; two in parallel are safe. The next round does what a failed
 * one left.
 */
export function maintainTables(options: TableMaintenanceOptions): AsyncDisposable {
  const { everyMs = EVERY_MS, logger } = options;
  return startRounds({
    round: (signal) => maintainTablesOnce(options, signal),
    everyMs,
    onFailure: (err) =>
      logger.warn({ err }, 'maintenance of the tables of webhooks failed; it is tried again in a minute'),
  });
}

export async function maintainTablesOnce(
  { pool, databaseUrl, logger }: TableMaintenanceOptions,
  signal?: AbortSignal,
  restSeconds?: number,
): Promise<void> {
  await using lease = await tryLease({ url: databaseUrl, key: LEASE_KEY, name: 'wts-webhooks-maintenance', logger });
  if (lease === null) return;
  await makePartitions(pool);
  for (const partition of await dropOld(pool)) logger.info({ partition }, 'old deliveries are dropped');
  await moveIdleCursors(pool);
  let removed = 0;
  for (let some = -1; some !== 0 && signal?.aborted !== true; removed += some)
    some = await removeWithoutHistory(pool, restSeconds);
  if (removed > 0) logger.info({ removed }, 'deleted endpoints are removed');
  for (const endpointId of await listDeleted(pool, restSeconds)) {
    while (await removeHistory(pool, endpointId)) {
      await sleep(CHUNK_PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal?.aborted || lease.lost.aborted) return;
    }
    logger.info({ endpointId }, 'a deleted endpoint and its history are removed');
  }
}

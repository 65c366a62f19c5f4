import type { Logger } from '@wts/log';
import { tryLease } from '@wts/service-kit/postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { listDeleted, removeHistory } from './store/deleted-endpoints.ts';
import { dropOld, makePartitions } from './store/partitions.ts';

const EVERY_MS = 60_000;
const LEASE_KEY = 7_368_022;
/** Between two chunks of history: what is removed in the background must not hold up what is written. */
const CHUNK_PAUSE_MS = 100;

export interface UpkeepOptions {
  readonly pool: Pool;
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly everyMs?: number;
  readonly logger: Logger;
}

/**
 * What the tables of webhooks need from time to time: partitions ahead, what is past its days taken away, and the history of
 * deleted endpoints removed. Every replica looks; one at a time acts, and two at once do no harm. A round that fails is made
 * up by the next.
 */
export function keepTables(options: UpkeepOptions): AsyncDisposable {
  const { everyMs = EVERY_MS, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const keep = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await keepOnce(options, signal);
      } catch (err) {
        if (!signal.aborted) logger.warn({ err }, 'a round of upkeep of webhooks failed; the next one makes up for it');
      }
      await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  const keeping = keep();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await keeping;
    },
  };
}

export async function keepOnce(
  { pool, databaseUrl, logger }: UpkeepOptions,
  signal?: AbortSignal,
  restSeconds?: number,
): Promise<void> {
  await using lease = await tryLease({ url: databaseUrl, key: LEASE_KEY, name: 'wts-webhooks-upkeep', logger });
  if (lease === null) return;
  await makePartitions(pool);
  for (const partition of await dropOld(pool)) logger.info({ partition }, 'old deliveries are dropped');
  for (const endpointId of await listDeleted(pool, restSeconds)) {
    while (await removeHistory(pool, endpointId)) {
      await sleep(CHUNK_PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal?.aborted || lease.lost.aborted) return;
    }
    logger.info({ endpointId }, 'a deleted endpoint and its history are removed');
  }
}

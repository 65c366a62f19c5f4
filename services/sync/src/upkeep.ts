import type { LogReader } from '@wts/log';
import type { Logger } from '@wts/service-kit/observe';
import { tryLease } from '@wts/service-kit/postgres';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { settleEpoch } from './store/log.ts';
import { dropDetached, dropPartition, listPartitions, makePartitions } from './store/partitions.ts';
import { forgetReplays } from './store/replays.ts';
import { findFloor, findTrimmed, FLOOR_RESTS_MS, raiseFloor, type Retention } from './store/retention.ts';

const EVERY_MS = 10_000;
const LEASE_KEY = 7_368_013;
const PARTITION_ENTRIES = 1_000_000;
const YOUNGEST_MS = 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface UpkeepOptions {
  readonly pool: Pool;
  readonly log: LogReader;
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly retention: Retention;
  /** Small enough that dropping one trims a sensible piece, large enough that a long log has few. */
  readonly partitionEntries?: number;
  /** How long a floor stands before what is below it goes. */
  readonly floorRestsMs?: number;
  readonly everyMs?: number;
  readonly logger: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
}

/** What operators set, as what the log is held to. */
export function retentionOf({ days, entries }: { days: number; entries?: number | undefined }): Retention {
  return { ageMs: days * DAY_MS, entries, youngestMs: YOUNGEST_MS };
}

/**
 * What the log needs from time to time: a new epoch after a promotion, partitions ahead of its head, and what is past its
 * days taken away. Every replica looks; one at a time acts, and two at once do no harm. A round that fails is made up by
 * the next.
 */
export function keepLog(options: UpkeepOptions): AsyncDisposable {
  const { everyMs = EVERY_MS, logger } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const keep = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await keepOnce(options, signal);
      } catch (err) {
        if (!signal.aborted) logger.warn({ err }, 'a round of upkeep of the log failed; the next one makes up for it');
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

export async function keepOnce(options: UpkeepOptions, signal?: AbortSignal): Promise<void> {
  const { pool, log, databaseUrl, logger } = options;
  await settleEpoch(pool);
  await forgetReplays(pool);
  await using lease = await tryLease({ url: databaseUrl, key: LEASE_KEY, name: 'wts-sync-upkeep', logger });
  if (lease === null) return;
  const { head } = await log.head();
  await makePartitions(pool, head, BigInt(options.partitionEntries ?? PARTITION_ENTRIES));
  await trim(options, head, signal);
}

/** What lies below the floor goes, then the floor rises: it has stood for a while before the next drop. */
async function trim(
  { pool, retention, floorRestsMs, logger }: UpkeepOptions,
  head: bigint,
  signal?: AbortSignal,
): Promise<void> {
  await dropDetached(pool);
  const partitions = await listPartitions(pool);
  for (const partition of await findTrimmed(pool, partitions, floorRestsMs ?? FLOOR_RESTS_MS)) {
    await dropPartition(pool, partition, signal);
    logger.info({ from: partition.from.toString(), to: partition.to.toString() }, 'old entries of the log are dropped');
  }
  const floor = await findFloor(pool, partitions, head, retention);
  if (floor !== null && (await raiseFloor(pool, floor))) {
    logger.info({ floor: floor.toString() }, 'the log begins later now');
  }
}

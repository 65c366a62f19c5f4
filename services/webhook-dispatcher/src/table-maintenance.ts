import type { Logger } from '@wts/log';
import { reseal, type SecretKeys } from '@wts/service-kit/sealing';
import { every, type BackgroundContext, type BackgroundWork } from '@wts/service-kit/background';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { deleteOfGoneWorkspaces, listDeleted, removeHistory, removeWithoutHistory } from './store/deleted-endpoints.ts';
import { dropOld, makePartitions } from './store/partitions.ts';
import { moveIdleCursors } from './store/workspaces.ts';

const EVERY_MS = 60_000;
const LEASE_KEY = 7_368_022;
/** Between two chunks of history: what is removed in the background must not hold up what is written. */
const CHUNK_PAUSE_MS = 100;

export interface TableMaintenanceOptions {
  readonly pool: Pool;
  readonly logger: Logger;
  /** Null without WEBHOOK_SECRET_KEY. */
  readonly secretKeys: SecretKeys | null;
}

/** What WEBHOOK_SECRET_KEY encrypts, under the ids of the endpoints. */
const SECRETS = {
  table: 'webhooks.secrets',
  id: 'id',
  name: 'endpoint_id',
  sealed: 'sealed',
  keyId: 'key_id',
} as const;

/**
 * Maintains the tables of webhooks: partitions ahead, and the removal of what is past its days and of the history of deleted
 * endpoints.
 */
export function maintainTables(
  context: BackgroundContext,
  { databaseUrl: url, ...options }: TableMaintenanceOptions & { readonly databaseUrl: string },
): BackgroundWork {
  return every(context, {
    name: 'table-maintenance',
    everyMs: EVERY_MS,
    lease: { url, key: LEASE_KEY },
    run: ({ signal }) => maintainTablesOnce(options, signal),
    failing: 'maintenance of the tables of webhooks failed; it is tried again every minute. Check PostgreSQL',
  });
}

export async function maintainTablesOnce(
  { pool, logger, secretKeys }: TableMaintenanceOptions,
  signal?: AbortSignal,
  restSeconds?: number,
): Promise<void> {
  await makePartitions(pool);
  for (const partition of await dropOld(pool)) logger.info({ partition }, 'old deliveries are dropped');
  await moveIdleCursors(pool);
  const gone = await deleteOfGoneWorkspaces(pool);
  if (gone.length > 0) logger.info({ endpointIds: gone }, 'disabled endpoints of deleted workspaces are deleted');
  let removed = 0;
  for (let some = -1; some !== 0 && signal?.aborted !== true; removed += some)
    some = await removeWithoutHistory(pool, restSeconds);
  if (removed > 0) logger.info({ removed }, 'deleted endpoints are removed');
  for (const endpointId of await listDeleted(pool, restSeconds)) {
    while (await removeHistory(pool, endpointId)) {
      await sleep(CHUNK_PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal?.aborted) return;
    }
    logger.info({ endpointId }, 'a deleted endpoint and its history are removed');
  }
  const resealed = secretKeys === null ? 0 : await reseal(pool, SECRETS, secretKeys);
  if (resealed > 0) logger.info({ resealed }, 'secrets are sealed with the first key of WEBHOOK_SECRET_KEY');
}

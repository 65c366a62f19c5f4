import { startRounds } from '@wts/service-kit/life';
import type { Logger } from '@wts/service-kit/observe';
import { tryLease } from '@wts/service-kit/postgres';

const EVERY_MS = 10 * 60_000;
const LEASE_KEY = 7_368_030;

interface TableMaintenanceOptions {
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  /** Each may run at any time, on any replica, and does a bounded part of its work. */
  readonly tasks: readonly (() => Promise<unknown>)[];
  readonly everyMs?: number;
  readonly log: Logger;
}

/**
 * Maintains the tables of this service in rounds: it makes the next signing key, and deletes what has ended. One replica at a time does
 * it, by a lease; two in parallel are safe. The next round does what a failed one left.
 */
export function maintainTables({
  databaseUrl,
  tasks,
  everyMs = EVERY_MS,
  log,
}: TableMaintenanceOptions): AsyncDisposable {
  return startRounds({
    round: async () => {
      await using lease = await tryLease({
        url: databaseUrl,
        key: LEASE_KEY,
        name: 'wts-auth-maintenance',
        logger: log,
      });
      if (lease === null) return;
      for (const task of tasks) await task();
    },
    everyMs,
    onFailure: (err) => log.warn({ err }, 'maintenance of the tables of auth failed; the next round tries again'),
  });
}

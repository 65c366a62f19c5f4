import { eachByItself, every, type BackgroundContext, type BackgroundWork } from '@wts/service-kit/background';

const EVERY_MS = 10 * 60_000;
const LEASE_KEY = 7_368_030;

interface TableMaintenanceOptions {
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  /** Each may run at any time, on any replica, and does a bounded part of its work. */
  readonly tasks: readonly (() => Promise<unknown>)[];
}

/** Maintains the tables of this service: it makes the next signing key, and deletes what has ended. */
export function maintainTables(
  context: BackgroundContext,
  { databaseUrl: url, tasks }: TableMaintenanceOptions,
): BackgroundWork {
  return every(context, {
    name: 'table-maintenance',
    everyMs: EVERY_MS,
    lease: { url, key: LEASE_KEY },
    // Each by itself: one that fails for weeks must not let the tables of the others grow.
    run: () => eachByItself(tasks, (task) => task()),
    failing: 'maintenance of the tables of auth failed; it is tried again every ten minutes',
  });
}

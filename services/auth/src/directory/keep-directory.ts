import { setTimeout as sleep } from 'node:timers/promises';
import { every, type BackgroundContext, type BackgroundWork, type Run } from '@wts/service-kit/background';
import type { CellStore } from '../store/cells.ts';
import type { AskedCell } from './cell-directory.ts';
import type { Directory } from './directory.ts';
import type { PersonCopies } from './person-copies.ts';
import { listWorkspacesOf } from './cell-lookup.ts';

const LEASE_KEY = 7_368_033;
/** How often another replica tries to take over. */
const LEASE_EVERY_MS = 5_000;
/** How late a changed name is in another cell. */
const FOLLOW_EVERY_MS = 1_000;
/** Workspaces that were purged free their urlKeys, and those that were made without a claim are added. */
const LIST_EVERY_MS = 10 * 60_000;
const PEOPLE_AT_ONCE = 100;

interface KeepOptions {
  /** For the session that holds the lease. */
  readonly databaseUrl: string;
  readonly directory: Pick<Directory, 'cells'>;
  readonly workspaceCells: CellStore;
  readonly copies: PersonCopies;
}

/** Follows changes of people, and lists workspaces, of each cell: on one replica, as long as it holds the lease. */
export function keepDirectory(context: BackgroundContext, options: KeepOptions): BackgroundWork {
  return every(context, {
    name: 'directory',
    everyMs: LEASE_EVERY_MS,
    lease: { url: options.databaseUrl, key: LEASE_KEY },
    run: (run) => keep(options, run),
    failing:
      'the directory does not follow a cell; names are late in other cells, and the urlKeys of purged workspaces stay taken',
  });
}

async function keep({ directory: { cells }, workspaceCells, copies }: KeepOptions, run: Run): Promise<void> {
  const { signal } = run;
  const listedAtMs = new Map<AskedCell, number>();
  const followOne = async (cell: AskedCell): Promise<void> => {
    // First, because it refuses a cell with another number than CELLS says: its list would remove the workspaces of the right one.
    while (!signal.aborted && (await copies.follow(cell)));
    if (performance.now() - (listedAtMs.get(cell) ?? -Infinity) > LIST_EVERY_MS) {
      await listWorkspacesOf(cell, workspaceCells);
      listedAtMs.set(cell, performance.now());
    }
  };
  while (!signal.aborted) {
    // Each by itself: one that is away holds up none.
    const results = await Promise.allSettled(cells.map(followOne));
    const repaired = await Promise.allSettled([copies.repair(PEOPLE_AT_ONCE)]);
    const failed = [...results, ...repaired].find((result) => result.status === 'rejected');
    if (signal.aborted) return;
    if (failed === undefined) run.succeeded();
    else run.failed(failed.reason);
    await sleep(FOLLOW_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

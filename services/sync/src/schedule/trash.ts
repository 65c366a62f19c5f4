import { LIMITS } from '@wts/contracts';
import { pause } from '@wts/log/stream';
import { Task, Workspace, type Model } from '@wts/models';
import { every, type BackgroundContext, type BackgroundWork, type RunResult } from '@wts/service-kit/background';
import type { Logger } from '@wts/service-kit/observe';
import type { Pool } from 'pg';
import type { CommitEngine } from '../commit/engine.ts';
import { ownUnit } from '../decision/unit.ts';
import {
  beginRound,
  countExisting,
  countExpired,
  findExpiredWorkspaces,
  scanTrash,
  SCAN_START,
  type ArchivedRecord,
  type DelaySeconds,
  type PurgeRound,
  type ScanPosition,
} from '../store/trash.ts';
import { SYNC_LIMITS } from '../limits.ts';
import { divideOnFailure } from './divide.ts';

/*
 * The purge deletes for good what was in the Trash long enough: tasks after the retention of the installation, or the longer one of
 * their workspace, and deleted workspaces after a week. It finds them by the clock of PostgreSQL and passes them to the engine in steps
 * (`rules/purge-step.ts`): ordinary units of this service with a share of its own, whose entries and webhooks are those of any
 * deletion. What is below a large record is left to a sweep.
 *
 * Nothing is stored between steps, so after a crash any replica goes on. A lease lets one replica purge; two are harmless, because a
 * step reads each record again under lock.
 *
 * Two mistakes would delete what people still want: a setting that was lowered, and a wrong clock of the database. Each delays the
 * purge, with a warning, so that they can be corrected (`store/trash.ts`). Keeps trash.purge and trash.purge.bounds.
 */

export const PURGE_CLIENT = 'trash-purge';

const LEASE_KEY = 7_368_014;
const HOUR_SECONDS = 60 * 60;
/** A wrong clock delays by one round of an operator, a lowered setting by a day. */
const DELAY_SECONDS: DelaySeconds = { first: 24 * HOUR_SECONDS, lowered: 24 * HOUR_SECONDS, clock: HOUR_SECONDS };
/** After this long a scan begins at the oldest task again: until then, what its workspace keeps longer is not read a second time. */
const SCAN_MS = HOUR_SECONDS * 1000;
/** Tasks that one statement of a scan reads. */
const SCANNED_MAX = 1_000;
/** With more that wait, the metric shows this number. */
const COUNTED_MAX = 100_000;
/** Workspaces of one step: each has a sweep of its own. */
const WORKSPACES_MAX = 10;

export interface PurgeWatch {
  onPurged(tasks: number): void;
  onDelayed(): void;
  /** How many tasks wait, and for how long the first of them. */
  onWaiting(tasks: number, overdueSeconds: number): void;
}

export interface PurgeOptions {
  readonly pool: Pool;
  readonly engine: Pick<CommitEngine, 'commit'>;
  /** 0: never. */
  readonly retentionDays: number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly watch: PurgeWatch;
}

export function startTrashPurge(
  context: BackgroundContext,
  options: PurgeOptions & { readonly databaseUrl: string },
): BackgroundWork {
  const purge = new TrashPurge(options);
  return every(context, {
    name: PURGE_CLIENT,
    everyMs: SYNC_LIMITS.purgeEveryMs,
    lease: { url: options.databaseUrl, key: LEASE_KEY },
    run: async ({ signal }) => {
      const beganMs = performance.now();
      const result = await purge.run();
      if (result === 'more') await pause(pauseMsAfter(performance.now() - beganMs), signal);
      return result;
    },
    failing: 'the purge of the Trash failed; it is tried again every minute. Until it succeeds, deleted records remain',
  });
}

/** A purge has days, so it takes a quarter of the time, and the changes of people have the rest. */
function pauseMsAfter(stepMs: number): number {
  return Math.min(3 * stepMs, SYNC_LIMITS.purgePauseMsMax);
}

export class TrashPurge {
  readonly #options: PurgeOptions;
  #isInRound = false;
  /** Where the scan of each model is. */
  #after: Readonly<Record<'tasks' | 'workspaces', ScanPosition>> = { tasks: SCAN_START, workspaces: SCAN_START };
  #scanBeganMs = -Infinity;
  #waiting = 0;

  constructor(options: PurgeOptions) {
    this.#options = options;
  }

  /** Does one step of a round, or begins the next round. */
  async run(): Promise<RunResult> {
    const began = this.#isInRound || (await this.#begin());
    // Also when a step fails: the next run may be hours later.
    this.#isInRound = false;
    if (!began) return 'done';
    const result = await this.#step();
    this.#isInRound = result === 'more';
    return result;
  }

  /** False when this round must not delete. */
  async #begin(): Promise<boolean> {
    const { pool, retentionDays: days, watch } = this.#options;
    const round = await beginRound(pool, days, DELAY_SECONDS);
    if (performance.now() - this.#scanBeganMs >= SCAN_MS) {
      this.#scanBeganMs = performance.now();
      this.#after = { tasks: SCAN_START, workspaces: SCAN_START };
    }
    const waiting =
      days === 0
        ? { count: 0, overdueSeconds: 0 }
        : await countExpired(pool, { days, after: this.#after.tasks, limit: COUNTED_MAX });
    this.#waiting = waiting.count;
    watch.onWaiting(waiting.count, waiting.overdueSeconds);
    if (round.delay !== null) this.#delayed(round);
    return round.waitsUntil === null;
  }

  #delayed({ delay, waitsUntil, retentionDaysBefore }: PurgeRound): void {
    const { logger, watch, retentionDays } = this.#options;
    watch.onDelayed();
    const context = { tasks: this.#waiting, until: waitsUntil?.toISOString(), retentionDays, retentionDaysBefore };
    if (delay === 'first') logger.info(context, 'the first purge of the Trash waits a day');
    if (delay === 'lowered')
      logger.warn(
        context,
        'TRASH_RETENTION_DAYS was lowered: the purge waits a day, then it deletes these tasks for good',
      );
    if (delay === 'clock')
      logger.warn(
        context,
        'more than a day is between two rounds of the purge: it waits an hour. Check the clock of the database server',
      );
  }

  async #step(): Promise<RunResult> {
    const { pool, retentionDays: days, watch } = this.#options;
    const workspaces = await findExpiredWorkspaces(pool, {
      days: LIMITS.workspaceTrashDays,
      after: this.#after.workspaces,
      limit: WORKSPACES_MAX,
    });
    if (workspaces.length > 0) {
      await this.#delete(Workspace, workspaces);
      return 'more';
    }
    if (days === 0) return 'done';
    const scanned = await scanTrash(pool, { days, after: this.#after.tasks, limit: SCANNED_MAX });
    const first = scanned.findIndex(({ isExpired }) => isExpired);
    // What comes before is kept by its workspace.
    this.#pass('tasks', scanned[first === -1 ? scanned.length - 1 : first - 1]);
    if (first === -1) return scanned.length === SCANNED_MAX ? 'more' : 'done';
    const tasks = scanned.filter(({ isExpired }) => isExpired).slice(0, SYNC_LIMITS.sweepStepIdsMax);
    const purged = await this.#delete(Task, tasks);
    watch.onPurged(purged);
    this.#waiting = Math.max(0, this.#waiting - purged);
    watch.onWaiting(this.#waiting, tasks[0]?.overdueSeconds ?? 0);
    return 'more';
  }

  #pass(what: 'tasks' | 'workspaces', record: ScanPosition | undefined): void {
    if (record) this.#after = { ...this.#after, [what]: record };
  }

  /**
   * Deletes as many of these records as fit into a commit; returns how many. Those in front that cannot be deleted are passed until the
   * next scan, so that the purge goes on with others.
   */
  async #delete(model: typeof Task | typeof Workspace, records: readonly ArchivedRecord[]): Promise<number> {
    const { pool, logger } = this.#options;
    const failed = new Set<string>();
    await divideOnFailure(
      records,
      (some) => this.#commit(model, some),
      ({ id }, err) => {
        failed.add(id);
        logger.warn(
          { err, model: model.name, id },
          'a record in the Trash cannot be deleted; it is tried again in an hour',
        );
      },
    );
    const ids = records.map(({ id }) => id);
    const deleted = records.length - (await countExisting(pool, model, ids));
    let passed = ids.findIndex((id) => !failed.has(id));
    if (passed === -1) passed = ids.length;
    else if (deleted === 0 && failed.size === 0) {
      // The step read each again under lock: all of them changed since, or a row is not as its record says.
      passed = ids.length;
      const context = { model: model.name, id: ids[0], records: ids.length };
      logger.warn(
        context,
        'records in the Trash are not archived since the time of their row; they are left for an hour',
      );
    }
    this.#pass(model === Task ? 'tasks' : 'workspaces', records[passed - 1]);
    return deleted;
  }

  async #commit(model: Model, records: readonly ArchivedRecord[]): Promise<void> {
    const step = { model, archivedAt: new Map(records.map(({ id, archivedAt }) => [id, archivedAt])) };
    const [outcome] = await this.#options.engine.commit([ownUnit(PURGE_CLIENT, { step })]);
    if (!outcome?.ok) throw new Error(`A step of the purge was refused: ${outcome?.error}`);
  }
}

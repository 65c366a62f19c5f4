import { Fault } from '@wts/contracts';
import { beginningOf, calendarAt } from '@wts/models/repeat';
import { every, type BackgroundContext, type BackgroundWork, type RunResult } from '@wts/service-kit/background';
import type { Pool } from 'pg';
import type { CommitEngine } from '../commit/engine.ts';
import { ownUnit, type Unit } from '../decision/unit.ts';
import { SYNC_LIMITS } from '../limits.ts';
import {
  countMovedOn,
  countStopped,
  findDueTasks,
  findDueTasksOf,
  readClock,
  type DueRow,
} from '../store/due-tasks.ts';
import { divideOnFailure } from './divide.ts';

/*
 * The scheduler makes the next task of a series when its day has begun in the time zone of the workspace.
 *
 * What is due is a fact of the newest task: `repeatNextDate`. A day has no time, so no moment is stored that a change of the time zone,
 * or of the rules of one, would make wrong. The scheduler computes the day of each zone by the clock of PostgreSQL. Tasks until the
 * earliest of these days are due everywhere; those of a later day are looked up by zone.
 *
 * Each task is a unit of the commit engine, which decides under the lock of its row (`rules/occurrence.ts`). So a task that was found
 * twice, or changed meanwhile, makes nothing; a crash loses nothing, because the next round finds the same tasks. The units have the
 * share of one person in the queue, so people do not wait for them. See infra/decisions/0025-repeating-tasks.md. Keeps
 * sync.repeat.by-date.
 */

export const REPEAT_CLIENT = 'repeat-scheduler';
const LEASE_KEY = 7_368_015;
/** Tasks of one turn: a request of the engine, which may be divided over batches while people wait. */
const BATCH = SYNC_LIMITS.repeatTasksMax;

export interface SchedulerOptions {
  readonly pool: Pool;
  readonly engine: Pick<CommitEngine, 'commit'>;
  /** How many tasks of a series may be open before it waits. */
  readonly openMax: number;
  readonly watch?: SchedulerWatch;
}

export interface SchedulerWatch {
  onMade(tasks: number): void;
  /** How long ago the day of the oldest due task began. */
  onLag(seconds: number): void;
  onStopped(stopped: { readonly waiting: number; readonly failed: number }): void;
}

/** As many as `repeatError` takes. */
const FAILURE_CHARS_MAX = 500;
/** Of a fault of the service, whose cause is in the log. Keeps sync.repeat.error. */
const UNEXPECTED = 'The next task was not created, because of an unexpected error of the service';
/**
 * Tasks that wait for their project or workspace to be restored are passed over by each round, so a round that took long to do so is
 * followed by a rest of so many times as long. That takes 2 % of one connection, however many they are.
 */
const REST_FACTOR = 50;

/** Runs the scheduler on one replica at a time. */
export function startRepeatScheduler(
  context: BackgroundContext,
  options: SchedulerOptions & { readonly databaseUrl: string },
): BackgroundWork {
  const scheduler = new RepeatScheduler(options);
  return every(context, {
    name: 'repeats',
    everyMs: SYNC_LIMITS.repeatEveryMs,
    lease: { url: options.databaseUrl, key: LEASE_KEY },
    run: () => scheduler.turn(),
    failing: 'the next tasks of repeating ones were not created; it is tried again every few seconds. Check PostgreSQL',
  });
}

/** A part of a round: the tasks with a day until this one, or those with exactly this one in some zones. */
interface Part {
  readonly day: string;
  readonly zones: readonly string[] | null;
}

export class RepeatScheduler {
  readonly #options: SchedulerOptions;
  /** What is left of this round; none: the next turn begins one. */
  #parts: readonly Part[] = [];
  #after: DueRow | null = null;
  #now = '';
  /** For which the next task of one could not be made in this round. */
  #error: Error | null = null;
  /** When the zones were looked at that are ahead of others, and their days. */
  #aheadAt = -Infinity;
  #aheadDays = '';
  /** How long this round has searched where little was due, and when the next one may begin. */
  #searchedMs = 0;
  #restsUntilMs = -Infinity;

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** One batch of a round over all that is due. */
  async turn(): Promise<RunResult> {
    const { pool, watch } = this.#options;
    if (this.#parts.length === 0) {
      if (performance.now() < this.#restsUntilMs) return 'done';
      await this.#beginRound();
    }
    try {
      await this.#runPart();
    } catch (error) {
      this.#parts = [];
      throw error;
    }
    if (this.#parts.length > 0) return 'more';
    this.#restsUntilMs = performance.now() + this.#searchedMs * REST_FACTOR - SYNC_LIMITS.repeatEveryMs;
    if (watch) watch.onStopped(await countStopped(pool));
    const error = this.#error;
    this.#error = null;
    if (error !== null) throw error;
    return 'done';
  }

  async #runPart(): Promise<void> {
    const [part, ...rest] = this.#parts;
    if (!part) return;
    const beganMs = performance.now();
    const due = await this.#find(part);
    if (due.length < BATCH) this.#searchedMs += performance.now() - beganMs;
    const [first] = due;
    if (this.#after === null && part.zones === null) this.#options.watch?.onLag(first ? this.#lagOf(first) : 0);
    await this.#make(due);
    this.#after = due.at(-1) ?? null;
    if (due.length === BATCH) return;
    this.#parts = rest;
    this.#after = null;
  }

  async #beginRound(): Promise<void> {
    const { now, zones } = await readClock(this.#options.pool);
    this.#now = now;
    this.#searchedMs = 0;
    const days = Map.groupBy(zones, (zone) => calendarAt(now, zone).today);
    const [earliest, ...later] = [...days.keys()].toSorted();
    if (earliest === undefined) return;
    const everywhere: Part = { day: earliest, zones: null };
    const ahead = daysBetween(earliest, later.at(-1) ?? earliest).map((day): Part => ({
      day,
      zones: later.filter((one) => one >= day).flatMap((one) => days.get(one) ?? []),
    }));
    const names = JSON.stringify([...days]);
    const isAheadDue = names !== this.#aheadDays || performance.now() - this.#aheadAt >= SYNC_LIMITS.repeatAheadEveryMs;
    this.#parts = [everywhere, ...(isAheadDue ? ahead : [])];
    this.#after = null;
    if (!isAheadDue) return;
    this.#aheadAt = performance.now();
    this.#aheadDays = names;
  }

  async #find({ day, zones }: Part): Promise<DueRow[]> {
    const { pool } = this.#options;
    return zones === null
      ? findDueTasks(pool, day, this.#after, BATCH)
      : findDueTasksOf(pool, { day, zones }, this.#after, BATCH);
  }

  /** Makes the next task of each. One for which that fails says so, and the others get theirs. */
  async #make(due: readonly DueRow[]): Promise<void> {
    const { pool, engine, watch } = this.#options;
    if (due.length === 0) return;
    const run = async (tasks: readonly DueRow[]): Promise<void> => {
      const outcomes = await engine.commit(tasks.map((task) => this.#unitOf(task)));
      const refused = tasks.flatMap((task, index) => {
        const outcome = outcomes[index];
        if (!outcome || outcome.ok) return [];
        if (outcome.code === 'unavailable') throw new Fault('unavailable', { message: outcome.error });
        return [this.#unitOf(task, outcome.error.slice(0, FAILURE_CHARS_MAX))];
      });
      await this.#stop(refused);
    };
    await divideOnFailure(due, run, async (task, cause) => {
      this.#error = new Error('The next task of one could not be made', { cause });
      const stop = (): Promise<void> => this.#stop([this.#unitOf(task, UNEXPECTED)]);
      await divideOnFailure([task], stop, () => undefined);
    });
    watch?.onMade(
      await countMovedOn(
        pool,
        due.map(({ id }) => id),
      ),
    );
  }

  /** Stores why the next task of each was not made, until a change of the task tries again. */
  async #stop(units: readonly Unit[]): Promise<void> {
    const refused = (await this.#options.engine.commit(units)).find(({ ok }) => !ok);
    if (refused && !refused.ok) throw new Error(refused.error);
  }

  #unitOf({ id: taskId, workspaceId, day }: DueRow, failure?: string): Unit {
    const { openMax } = this.#options;
    const due = { taskId, workspaceId, day, openMax, ...(failure === undefined ? {} : { failure }) };
    return ownUnit(REPEAT_CLIENT, { due });
  }

  #lagOf({ day, zone }: DueRow): number {
    const began = beginningOf(day, calendarAt(this.#now, zone).timeZone);
    return Math.max(0, (Date.parse(this.#now) - Date.parse(began)) / 1000);
  }
}

/** The days after one, up to another: three at most, because clocks of zones differ by 26 hours. */
function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let day = Temporal.PlainDate.from(from).add({ days: 1 }); day.toString() <= to; day = day.add({ days: 1 }))
    days.push(day.toString());
  return days;
}

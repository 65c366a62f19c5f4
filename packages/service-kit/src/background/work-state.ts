import type { Counter, Registry } from 'prom-client';
import type { Logger } from '../observe/logger.ts';
import { metricsOf } from '../observe/metrics.ts';
import type { BackgroundStatus, Readiness } from '../observe/readiness.ts';

/** The parts of a service that background work uses; `ServiceContext` has them. */
export interface BackgroundContext {
  readonly name: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  readonly metrics: Registry;
  readonly readiness: Pick<Readiness, 'addBackground'>;
}

export interface ShownWork {
  /** Names the work in metrics, in `/ready` and in the log. */
  readonly name: string;
  /** The longest pause after a run that left nothing, or that failed. */
  readonly everyMs: number;
  /** A sentence for the log of the first failure: what is missing until a run succeeds, and what an operator can check. */
  readonly failing: string;
}

/** What one work of this process did, as its metrics and `/ready` show it, and its two lines in the log. */
export class WorkState {
  readonly #work: ShownWork;
  readonly #log: BackgroundContext['log'];
  readonly #metrics: WorkMetrics;
  isActive = false;
  #isFailing = false;
  #lastRunAt: Date | null = null;
  /** When nothing was left to do for this process. */
  #doneAt = performance.now();
  #runs = 0;
  #failures = 0;

  constructor(work: ShownWork, log: BackgroundContext['log'], metrics: WorkMetrics) {
    this.#work = work;
    this.#log = log;
    this.#metrics = metrics;
  }

  get name(): string {
    return this.#work.name;
  }

  get status(): BackgroundStatus {
    return {
      isActive: this.isActive,
      lastRunAt: this.#lastRunAt?.toISOString() ?? null,
      lagMs: Math.round(Math.max(0, performance.now() - this.#doneAt - this.#work.everyMs)),
      runs: this.#runs,
      failures: this.#failures,
    };
  }

  /** A run did its batch, and something is left. */
  didSome(): void {
    this.#runs += 1;
    this.#lastRunAt = new Date();
    this.#metrics.runs.inc({ work: this.name });
    if (this.#isFailing) this.#log.info({ work: this.name }, 'background work succeeds again');
    this.#isFailing = false;
  }

  succeeded(): void {
    this.didSome();
    this.#doneAt = performance.now();
  }

  /** Another process holds the lease, so the lag is shown there. */
  leftToAnother(): void {
    this.#doneAt = performance.now();
  }

  /** Logs the first failure; each one is counted. */
  failed(err: unknown): void {
    this.#failures += 1;
    this.#metrics.failures.inc({ work: this.name });
    if (!this.#isFailing) this.#log.warn({ work: this.name, err }, this.#work.failing);
    this.#isFailing = true;
  }
}

export function openWorkState({ metrics: registry, readiness, log }: BackgroundContext, work: ShownWork): WorkState {
  const metrics = METRICS.getOrInsertComputed(registry, workMetrics);
  const state = new WorkState(work, log, metrics);
  metrics.states.push(state);
  readiness.addBackground(work.name, () => state.status);
  return state;
}

interface WorkMetrics {
  readonly runs: Counter<'work'>;
  readonly failures: Counter<'work'>;
  /** Of the gauges. */
  readonly states: WorkState[];
}

const METRICS = new WeakMap<Registry, WorkMetrics>();

/** The metrics of all background work of a service. */
function workMetrics(registry: Registry): WorkMetrics {
  const states: WorkState[] = [];
  const { counter, watchSeries } = metricsOf(registry);
  const gauge = (name: string, help: string, read: (status: BackgroundStatus) => number): void =>
    watchSeries(name, help, ['work'], () => states.map((state) => [{ work: state.name }, read(state.status)]));
  gauge('wts_background_active', '1 while this process runs the work.', ({ isActive }) => Number(isActive));
  gauge(
    'wts_background_lag_seconds',
    'How long the work is overdue: 0 while it is done at its time, here or by another replica.',
    ({ lagMs }) => lagMs / 1000,
  );
  gauge(
    'wts_background_last_run_timestamp_seconds',
    'When a run last succeeded in this process; 0 before the first.',
    ({ lastRunAt }) => (lastRunAt === null ? 0 : Date.parse(lastRunAt) / 1000),
  );
  return {
    runs: counter('wts_background_runs_total', 'Runs of background work that succeeded.', 'work'),
    failures: counter('wts_background_failures_total', 'Runs of background work that failed.', 'work'),
    states,
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { tryLease } from '../postgres/lease.ts';
import { openWorkState, type BackgroundContext, type ShownWork, type WorkState } from './work-state.ts';

/*
 * Work of a service that no request starts: it is repeated while the service runs, on one replica at a time or on each.
 *
 * A run does one bounded batch and returns `more` when something is left; then the next run follows at once, in the same lease. So
 * a service stops after a batch, and no statement grows with the backlog. A run compares times in SQL, by the clock of PostgreSQL,
 * because the clocks of replicas differ. Two replicas may work at the same time for the moment that a lost lease takes to be
 * noticed, so a run must be harmless beside another one. The next run does what a failed one left.
 */

export interface WorkOptions extends ShownWork {
  /** Lets one process of all work at a time. Without it each process works. */
  readonly lease?: WorkLease | undefined;
  readonly run: (run: Run) => Promise<RunResult | void>;
}

interface WorkLease {
  /** For the session that holds the lease. */
  readonly url: string;
  /** Names the lock among all advisory locks of the database. */
  readonly key: number;
  readonly silenceMaxMs?: number | undefined;
}

/** `more`: something is left, so the next run follows at once. */
export type RunResult = 'more' | 'done';

/** One run. A run that lasts as long as its lease reports what it does meanwhile. */
export interface Run {
  /** Aborts when the service stops or the lease is lost. */
  readonly signal: AbortSignal;
  /** Nothing is left to do now. */
  readonly succeeded: () => void;
  readonly failed: (error: unknown) => void;
}

/** Disposing stops the work, and waits for the run in progress. */
export interface BackgroundWork extends AsyncDisposable {
  /** True during a run of this process. */
  readonly isActive: boolean;
  /** Begins the next run immediately, or after the one in progress. */
  wake(): void;
}

/** Repeats work until it is disposed of. Metrics and `/ready` of the service show its runs, failures and lag. */
export function every(context: BackgroundContext, work: WorkOptions): BackgroundWork {
  const state = openWorkState(context, work);
  const stopping = new AbortController();
  const { signal } = stopping;
  let waking = new AbortController();
  const repeat = async (): Promise<void> => {
    while (!signal.aborted) {
      waking = new AbortController();
      try {
        await runLeased(context, work, { state, signal });
      } catch (error) {
        if (!signal.aborted) state.failed(error);
      }
      const until = AbortSignal.any([waking.signal, signal]);
      await sleep(pauseMsOf(work), undefined, { signal: until, ref: false }).catch(() => undefined);
    }
  };
  const repeating = repeat();
  return {
    get isActive() {
      return state.isActive;
    },
    wake: () => waking.abort(),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await repeating;
    },
  };
}

interface Running {
  readonly state: WorkState;
  readonly signal: AbortSignal;
}

/** Runs the work until nothing is left, unless another process holds its lease. */
async function runLeased({ name, log: logger }: BackgroundContext, work: WorkOptions, running: Running): Promise<void> {
  if (work.lease === undefined) return runUntilDone(work, running);
  await using held = await tryLease({ ...work.lease, name: `wts-${name}-${work.name}`, logger });
  if (held === null) return running.state.leftToAnother();
  await runUntilDone(work, { ...running, signal: AbortSignal.any([held.lost, running.signal]) });
}

async function runUntilDone(work: WorkOptions, { state, signal }: Running): Promise<void> {
  const run: Run = { signal, succeeded: () => state.succeeded(), failed: (error) => state.failed(error) };
  state.isActive = true;
  try {
    while ((await work.run(run)) === 'more') {
      if (signal.aborted) return;
      state.didSome();
    }
    if (!signal.aborted) state.succeeded();
  } finally {
    state.isActive = false;
  }
}

/** Random under a lease, so that a process that released it does not get it again and again before the others. */
function pauseMsOf({ everyMs, lease }: WorkOptions): number {
  return lease === undefined ? everyMs : everyMs * (0.5 + Math.random() / 2);
}

import { startRounds } from '../life/rounds.ts';
import { tryLease, type LeaseOptions } from './lease.ts';

interface LeasedWorkOptions extends LeaseOptions {
  /** The work. Its signal aborts when the lease is lost or the work has to stop; when it resolves, the lease is released. */
  readonly hold: (ended: AbortSignal) => Promise<void>;
  /** A gauge: 1 while this process holds the lease. */
  readonly holding: { set(value: number): void };
  readonly onFailure: (error: unknown) => void;
}

/** Disposing stops the work, and waits for its end. */
export interface LeasedWork extends AsyncDisposable {
  /** True while this process holds the lease. */
  readonly isHolding: boolean;
}

const RETRY_MS = 500;

/** Does work while this process holds the lease, and tries to get the lease while another process holds it. */
export function startLeasedWork({ hold, holding, onFailure, ...lease }: LeasedWorkOptions): LeasedWork {
  let isHolding = false;
  const show = (isNow: boolean): void => {
    isHolding = isNow;
    holding.set(isNow ? 1 : 0);
  };
  const rounds = startRounds({
    round: async (signal) => {
      await using held = await tryLease(lease);
      if (held === null) return;
      show(true);
      try {
        await hold(AbortSignal.any([held.lost, signal]));
      } finally {
        show(false);
      }
    },
    // Random, so that a process that released the lease does not get it again and again before the others.
    everyMs: () => RETRY_MS * (0.5 + Math.random()),
    onFailure,
  });
  return {
    get isHolding() {
      return isHolding;
    },
    [Symbol.asyncDispose]: () => rounds[Symbol.asyncDispose](),
  };
}

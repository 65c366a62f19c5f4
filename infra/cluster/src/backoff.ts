const FIRST_MS = 10_000;
const MOST_MS = 300_000;
const CALM_MS = 600_000;

/** When a container is started again, as Kubernetes decides it: at once, then later and later, and at once again after ten minutes. */
export class Backoff {
  #waitMs = 0;
  #restartedMs = 0;

  /** How long the restart that is needed now waits. */
  next(nowMs: number): number {
    const waitMs = nowMs - this.#restartedMs >= CALM_MS ? 0 : this.#waitMs;
    this.#restartedMs = nowMs + waitMs;
    this.#waitMs = Math.min(Math.max(2 * waitMs, FIRST_MS), MOST_MS);
    return waitMs;
  }
}

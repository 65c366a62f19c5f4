/**
 * A timer this long overflows nothing; for a later time it is set again. It is longer than `laneIdleMs`, because each
 * end makes a lane busy, and one that only waits is released.
 */
const WAIT_MS_MAX = 24 * 60 * 60 * 1_000;

/** When the next retry of a lane is due, on the monotonic clock. */
export class RetryTimer {
  readonly #onDue: () => void;
  #timer: NodeJS.Timeout | undefined;
  #dueMs: number | null = null;

  constructor(onDue: () => void) {
    this.#onDue = onDue;
  }

  get dueMs(): number | null {
    return this.#dueMs;
  }

  /** Null for none. */
  set(dueMs: number | null): void {
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    if (dueMs === null) return;
    const waitMs = Math.max(0, Math.ceil(dueMs - performance.now()));
    this.#timer = setTimeout(
      () => {
        // Else a later time would not be set any more, because a past one comes earlier.
        this.#dueMs = null;
        this.#onDue();
      },
      Math.min(WAIT_MS_MAX, waitMs),
    ).unref();
  }

  /** A time that was set before stays when it is earlier. */
  setEarlier(dueMs: number | null): void {
    if (dueMs !== null && dueMs < (this.#dueMs ?? Number.POSITIVE_INFINITY)) this.set(dueMs);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

import type { DispatchLimits } from '../limits.ts';
import type { EndpointSettings } from '../store/lanes.ts';
import type { Pace } from './slots.ts';

type PaceLimits = Pick<DispatchLimits, 'slowMs' | 'durationsKept' | 'hangingMs' | 'hangingSlowMs'>;

/**
 * How quick an endpoint is, by how long its last attempts took, whatever became of them. One attempt that hangs is enough to
 * be slow for a while, because one in ten would otherwise hold a slot of the quick ones again and again.
 */
export class PaceMeter {
  readonly #limits: PaceLimits;
  readonly #now: () => number;
  #durationsMs: number[] = [];
  #slowUntilMs = Number.NEGATIVE_INFINITY;
  #inTime = 0;
  #origin: string | null = null;

  constructor(limits: PaceLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** An attempt at an origin that the endpoint no longer has counts for nothing. */
  note(durationMs: number, origin: string): void {
    this.#origin ??= origin;
    if (origin !== this.#origin) return;
    const { slowMs, durationsKept, hangingMs, hangingSlowMs } = this.#limits;
    this.#inTime = durationMs > slowMs ? 0 : this.#inTime + 1;
    if (durationMs > hangingMs) this.#slowUntilMs = this.#now() + hangingSlowMs;
    else if (this.#inTime >= durationsKept) this.#slowUntilMs = Number.NEGATIVE_INFINITY;
    this.#durationsMs.push(durationMs);
    if (this.#durationsMs.length > durationsKept) this.#durationsMs.shift();
  }

  /** Without an attempt in this process, what is recorded of the endpoint has to do. */
  pace(settings: Pick<EndpointSettings, 'origin' | 'hasSucceeded' | 'consecutiveFailures'> | null): Pace {
    if (settings !== null) this.#startAnewAt(settings.origin);
    if (this.#now() < this.#slowUntilMs) return 'slow';
    const { length } = this.#durationsMs;
    if (length > 0) {
      const inTime = this.#durationsMs.filter((durationMs) => durationMs <= this.#limits.slowMs).length;
      return inTime < Math.ceil(length * 0.9) ? 'slow' : 'quick';
    }
    return settings?.hasSucceeded === true && settings.consecutiveFailures === 0 ? 'quick' : 'unknown';
  }

  /** The attempts at another origin are no measure of this one; another path of the same one keeps its pace. */
  #startAnewAt(origin: string): void {
    if (origin === this.#origin) return;
    this.#origin = origin;
    this.#durationsMs = [];
    this.#slowUntilMs = Number.NEGATIVE_INFINITY;
    this.#inTime = 0;
  }
}

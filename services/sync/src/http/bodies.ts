import { randomRetryAfterSeconds, Fault } from '@wts/contracts';
import type { BodyAdmission } from '@wts/service-kit/http';
import { FairGate, FairQuota, type LoopTurns } from '@wts/service-kit/fairness';
import type { WaitMetrics } from '../metrics.ts';
import { SYNC_LIMITS } from '../limits.ts';

/** How fast the event loop receives, garbage collection included. */
const RECEIVED_BYTES_PER_MS = 256 * 1024;

/**
 * Large bodies count against their person from their first byte until they are parsed, and are parsed one at a time, by turns
 * of their people. Between two of them the event loop serves other requests, so ten bodies of 4 MiB cause ten short delays
 * instead of one long one.
 */
export class Bodies implements BodyAdmission {
  readonly #held: FairQuota;
  readonly #metrics: WaitMetrics;
  readonly #gate: FairGate;
  readonly #turns: LoopTurns;

  constructor(metrics: WaitMetrics, turns: LoopTurns) {
    this.#metrics = metrics;
    this.#turns = turns;
    const { networkOf } = turns;
    this.#held = new FairQuota(SYNC_LIMITS.bodiesBytesMax, { networkOf });
    this.#gate = new FairGate({
      slots: 1,
      networkOf,
      waitMs: SYNC_LIMITS.bodyWaitMs,
      // What waits is in memory already, so `hold` bounds it by its bytes.
      waitingMax: Infinity,
      refusal: 'Too many large requests are waiting',
      watch: metrics,
    });
  }

  hold(person: string, bytes: number): Disposable {
    const held = this.#held.hold(person, bytes);
    if (held !== undefined) return held;
    this.#metrics.onRefused();
    throw new Fault('unavailable', {
      message: 'Too many large requests at once; wait for the answers to your earlier ones, or try again shortly',
      retryAfterSeconds: randomRetryAfterSeconds(),
    });
  }

  async turn(person: string, bytes: number, signal: AbortSignal): Promise<Disposable> {
    const slot = await this.#gate.enter(person, { signal, cost: bytes });
    this.#turns.spent(person, bytes / RECEIVED_BYTES_PER_MS);
    await this.#turns.take(person, bytes);
    return slot;
  }
}

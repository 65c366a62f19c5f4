import { Fault } from '@wts/contracts';
import type { Logger } from '@wts/service-kit';
import { Pool } from 'undici';
import { EDGE_LIMITS } from './limits.ts';

/** One address of a service. */
export interface Target {
  readonly origin: URL;
  readonly pool: Pool;
  /** Connection failures in a row, and until when the address is passed over because of them. */
  failures: number;
  ejectedUntil: number;
}

/**
 * The addresses of one service: taken in turn, and passed over for a while after a refused connection. When all are
 * passed over, the one whose pause ends first is tried anyway, so a service that came back is found at once.
 */
export class Upstream {
  readonly name: string;
  readonly targets: readonly Target[];
  readonly #log: Logger;
  #next = 0;
  #inFlight = 0;

  constructor(name: string, origins: readonly string[], log: Logger, headersTimeoutMs?: number) {
    this.name = name;
    this.#log = log;
    this.targets = origins.map((text) => {
      const origin = new URL(text);
      return { origin, pool: openPool(origin, headersTimeoutMs), failures: 0, ejectedUntil: 0 };
    });
    if (this.targets.length === 0) throw new Error(`${name} has no address`);
  }

  /** The next address to try; null when `tried` holds them all. */
  pick(tried: ReadonlySet<Target> | null = null, now = performance.now()): Target | null {
    const { targets } = this;
    let resting: Target | null = null;
    for (let step = 0; step < targets.length; step += 1) {
      const target = targets[(this.#next + step) % targets.length] as Target;
      if (tried?.has(target)) continue;
      if (target.ejectedUntil <= now) {
        this.#next = (this.#next + step + 1) % targets.length;
        return target;
      }
      if (resting === null || target.ejectedUntil < resting.ejectedUntil) resting = target;
    }
    return resting;
  }

  /** Lets the address rest. Failures while it rests are those of requests that were already on their way to it. */
  failed(target: Target, cause: unknown, now = performance.now()): void {
    if (now < target.ejectedUntil) return;
    const pause = Math.min(EDGE_LIMITS.ejectMs * 2 ** target.failures, EDGE_LIMITS.ejectMsMax);
    target.failures += 1;
    target.ejectedUntil = now + pause;
    if (target.failures === 1) {
      this.#log.warn({ upstream: this.name, origin: target.origin.origin, err: cause }, 'upstream does not answer');
    }
  }

  answered(target: Target): void {
    if (target.failures === 0) return;
    target.failures = 0;
    target.ejectedUntil = 0;
    this.#log.info({ upstream: this.name, origin: target.origin.origin }, 'upstream answers again');
  }

  /** Takes a place among the requests under way; every `enter` has its `leave`. */
  enter(): void {
    if (this.#inFlight >= EDGE_LIMITS.inFlightMax) throw new Fault('unavailable');
    this.#inFlight += 1;
  }

  leave(): void {
    this.#inFlight -= 1;
  }

  async close(): Promise<void> {
    await Promise.all(this.targets.map((target) => target.pool.destroy()));
  }
}

function openPool(origin: URL, headersTimeout: number = EDGE_LIMITS.upstreamHeadersTimeoutMs): Pool {
  return new Pool(origin.origin, {
    connections: EDGE_LIMITS.connectionsMax,
    pipelining: 1,
    connect: { timeout: EDGE_LIMITS.connectTimeoutMs },
    headersTimeout,
    bodyTimeout: EDGE_LIMITS.upstreamBodyTimeoutMs,
    allowH2: false,
  });
}

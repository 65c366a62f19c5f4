import { Pool } from 'undici';

/** One origin of a service, with how it has been doing. */
export interface Endpoint {
  readonly origin: string;
  readonly pool: Pool;
  failures: number;
  ejectedUntilMs: number;
}

const CONNECTIONS_MAX = 64;
/** Services stand next to each other: a connection that takes longer is not coming. */
const CONNECT_TIMEOUT_MS = 1_000;
const EJECT_MS = 500;
const EJECT_MS_MAX = 10_000;

/**
 * The origins a service is reached at, in turn. One that cannot be reached is left out for a while (passive ejection:
 * nobody probes, the next call after the while does); when all are out, all are tried, because being wrong about all of
 * them costs more than one failed call.
 */
export class Endpoints implements AsyncDisposable {
  readonly #all: readonly Endpoint[];
  #next = 0;

  constructor(urls: readonly string[], timeoutMs: number) {
    this.#all = urls.map((url) => {
      const { origin } = new URL(url);
      const pool = new Pool(origin, {
        connections: CONNECTIONS_MAX,
        pipelining: 1,
        allowH2: false,
        connect: { timeout: CONNECT_TIMEOUT_MS },
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      return { origin, pool, failures: 0, ejectedUntilMs: 0 };
    });
  }

  get count(): number {
    return this.#all.length;
  }

  /** The next origin in turn, one that was not tried yet when there is one. */
  pick(tried: readonly Endpoint[], nowMs: number): Endpoint {
    const start = this.#next;
    this.#next = (start + 1) % this.#all.length;
    let spare: Endpoint | undefined;
    for (let step = 0; step < this.#all.length; step += 1) {
      const endpoint = this.#all[(start + step) % this.#all.length]!;
      if (tried.includes(endpoint)) continue;
      if (endpoint.ejectedUntilMs <= nowMs) return endpoint;
      spare ??= endpoint;
    }
    return spare ?? this.#all[start]!;
  }

  succeeded(endpoint: Endpoint): void {
    endpoint.failures = 0;
    endpoint.ejectedUntilMs = 0;
  }

  failed(endpoint: Endpoint, nowMs: number): void {
    const ejectMs = Math.min(EJECT_MS * 2 ** endpoint.failures, EJECT_MS_MAX);
    endpoint.failures += 1;
    endpoint.ejectedUntilMs = nowMs + ejectMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map(({ pool }) => pool.destroy()));
  }
}

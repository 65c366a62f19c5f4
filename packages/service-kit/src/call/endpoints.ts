import { Pool } from 'undici';

/** One origin of a service, with how it has been doing. */
export interface Endpoint {
  readonly origin: string;
  readonly pool: Pool;
  inFlight: number;
  failures: number;
  ejectedUntilMs: number;
}

const CONNECTIONS_MAX = 64;
/** Services stand next to each other: a connection that takes longer is not coming. */
const CONNECT_TIMEOUT_MS = 1_000;
/** An origin that failed is left out this long, twice as long after each further failure. */
const EJECT_MS = 500;
const EJECT_MS_MAX = 10_000;

/**
 * The origins a service is reached at, in turn. One that fails is left out for a while (passive ejection: nobody probes,
 * the next call after the while does). When all are out all are tried, because being wrong about all of them costs more
 * than one failed call.
 */
export class Endpoints {
  readonly #all: readonly Endpoint[];
  #turn = 0;

  constructor(urls: readonly string[]) {
    if (urls.length === 0) throw new Error('A service needs at least one address.');
    this.#all = urls.map((url) => {
      const { origin } = new URL(url);
      const pool = new Pool(origin, {
        connections: CONNECTIONS_MAX,
        pipelining: 1,
        allowH2: false,
        connect: { timeout: CONNECT_TIMEOUT_MS },
        // Every call has a deadline of its own over all of these.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      return { origin, pool, inFlight: 0, failures: 0, ejectedUntilMs: 0 };
    });
  }

  get count(): number {
    return this.#all.length;
  }

  /** The next origin in turn that is well and was not tried; else one not tried; else the next in turn. */
  pick(tried: readonly Endpoint[], nowMs: number): Endpoint {
    this.#turn = (this.#turn + 1) % this.#all.length;
    const inTurn = [...this.#all.slice(this.#turn), ...this.#all.slice(0, this.#turn)];
    const untried = inTurn.filter((endpoint) => !tried.includes(endpoint));
    return (untried.find(({ ejectedUntilMs }) => ejectedUntilMs <= nowMs) ?? untried[0] ?? inTurn[0]) as Endpoint;
  }

  succeeded(endpoint: Endpoint): void {
    endpoint.failures = 0;
    endpoint.ejectedUntilMs = 0;
  }

  failed(endpoint: Endpoint, nowMs: number): void {
    endpoint.ejectedUntilMs = nowMs + Math.min(EJECT_MS * 2 ** endpoint.failures, EJECT_MS_MAX);
    endpoint.failures += 1;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map(({ pool }) => pool.destroy()));
  }
}

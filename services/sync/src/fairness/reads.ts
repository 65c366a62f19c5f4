import { addAbortListener } from 'node:events';
import type { Queryable } from '@wts/log';
import type { Pool, PoolClient } from 'pg';
import type { FairGate } from '@wts/service-kit/fairness';

/**
 * Runs short reads by turns of people: a read takes a connection only when its turn has come, so no person takes the
 * connections of others.
 *
 * When the client disconnects, a waiting read never starts, and the connection of a running one is closed. PostgreSQL then
 * cancels the statement within a second (`client_connection_check_interval` in infra/postgres/roles.sql).
 */
export class Reads {
  readonly #pool: Pool;
  readonly #gate: FairGate;

  constructor(pool: Pool, gate: FairGate) {
    this.#pool = pool;
    this.#gate = gate;
  }

  run<T>(
    person: string,
    signal: AbortSignal,
    work: (database: Queryable) => Promise<T>,
    { isLarge = false } = {},
  ): Promise<T> {
    return this.#gate.run(person, { signal, isLarge }, () => this.#connected(signal, work));
  }

  async #connected<T>(signal: AbortSignal, work: (database: Queryable) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let isReleased = false;
    const release = (isBroken: boolean): void => {
      if (!isReleased) client.release(isBroken);
      isReleased = true;
    };
    using _cutting = addAbortListener(signal, () => release(true));
    try {
      signal.throwIfAborted();
      const found = await work(client satisfies PoolClient);
      release(false);
      return found;
    } catch (error) {
      // The connection may be in any state, so the pool must not reuse it.
      release(true);
      throw signal.aborted ? signal.reason : error;
    }
  }
}

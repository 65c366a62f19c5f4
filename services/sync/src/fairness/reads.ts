import type { Queryable } from '@wts/log';
import type { Pool, PoolClient } from 'pg';
import type { FairGate } from './fair-gate.ts';

/**
 * Connections for short reads, shared out by person: one waits for a turn before a connection is taken, so nobody's reads
 * take the connections that others need.
 *
 * When the client leaves, what waits never begins, and the connection of what runs is cut: PostgreSQL notices within a
 * second (`client_connection_check_interval` in infra/postgres/roles.sql), where the end of the statement may be far away.
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
    const cut = (): void => release(true);
    signal.addEventListener('abort', cut, { once: true });
    try {
      signal.throwIfAborted();
      const found = await work(client satisfies PoolClient);
      release(false);
      return found;
    } catch (error) {
      // As the pool does: what state the connection is in is not known.
      release(true);
      throw signal.aborted ? signal.reason : error;
    } finally {
      signal.removeEventListener('abort', cut);
    }
  }
}

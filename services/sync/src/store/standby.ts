import type { Logger } from '@wts/service-kit/observe';
import type { Pool } from 'pg';

/** `passed`: it answered, but lacks what was needed. `resting`: it was not asked, because it failed a moment ago. */
export type StandbyOutcome = 'served' | 'passed' | 'failed' | 'resting';

export interface StandbyOptions {
  readonly pool: Pool;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  readonly observe: (outcome: StandbyOutcome) => void;
  readonly restMs?: number;
}

/** A try may cost a whole timeout, so one that failed is left alone for a while. */
const REST_MS = 5_000;
/** serialization_failure: replay needed what the query was looking at. Says nothing about the next one. */
const CONFLICT = '40001';

/**
 * A streaming copy of the database, for reading. It may lag, be cut off, hang, or have become another database:
 * whoever reads here says what is of use to them, and can do without.
 */
export class Standby {
  readonly #options: StandbyOptions;
  #hasFailed = false;
  #restsUntil = 0;

  constructor(options: StandbyOptions) {
    this.#options = options;
  }

  /** What `work` finds of use, or null: then the primary is to be asked. Never rejects for what the copy does. */
  async read<T>(work: (pool: Pool) => Promise<T | null>): Promise<T | null> {
    const { pool, observe, restMs = REST_MS } = this.#options;
    if (performance.now() < this.#restsUntil) {
      observe('resting');
      return null;
    }
    // After a failure one at a time tries; the others do not wait for it.
    if (this.#hasFailed) this.#restsUntil = performance.now() + restMs;
    try {
      const found = await work(pool);
      this.#wake();
      observe(found === null ? 'passed' : 'served');
      return found;
    } catch (error) {
      observe('failed');
      if ((error as { code?: string }).code !== CONFLICT) this.#rest(error, restMs);
      return null;
    }
  }

  #rest(error: unknown, restMs: number): void {
    this.#restsUntil = performance.now() + restMs;
    if (!this.#hasFailed) {
      this.#options.logger.warn({ err: error }, 'the copy of the database does not answer; the primary is read');
    }
    this.#hasFailed = true;
  }

  #wake(): void {
    if (!this.#hasFailed) return;
    this.#hasFailed = false;
    this.#restsUntil = 0;
    this.#options.logger.info({}, 'the copy of the database answers again');
  }
}

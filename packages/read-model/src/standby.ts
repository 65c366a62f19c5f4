import { LogReader, type Logger } from '@wts/log';
import type { Pool } from 'pg';
import { poll } from './poll.ts';
import type { PersonGroups } from './visibility.ts';

/** `passed`: it answered, but lacks what was needed. `resting`: it was not asked, because it failed a moment ago. */
export type StandbyOutcome = 'served' | 'passed' | 'failed' | 'resting';

/** What a reader needs of a copy of the database, as the primary had it when they asked. */
interface Needed {
  readonly person: PersonGroups;
  /** A place the reader knows of. */
  readonly reached: bigint;
  /** Whether the primary's log has entries of the person's groups after a place. */
  readonly changedSince: (place: bigint) => Promise<boolean>;
}

interface StandbyOptions {
  readonly pool: Pool;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  readonly observe: (outcome: StandbyOutcome) => void;
  readonly restMs?: number;
}

/** A try may cost a whole timeout, so one that failed is left alone for a while. */
const REST_MS = 5_000;
/** A copy is usually milliseconds behind; waiting for it costs the primary nothing. */
const CATCH_UP = { everyMs: 10, timeoutMs: 100 } as const;
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

  /**
   * The copy, as soon as it has everything the reader's groups had on the primary at the time of asking: changes of others it
   * may lack. So a reader reads what they wrote before, and nobody reads by a membership that was taken from them. Null when
   * it does not have that in time: then the primary is to be read.
   */
  poolFor(needed: Needed): Promise<Pool | null> {
    return this.read(async (pool) => {
      const log = new LogReader(pool);
      return (await poll(() => hasAll(log, needed), CATCH_UP)) === true ? pool : null;
    });
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

/** Null as long as it may still come. */
async function hasAll(copy: LogReader, { person, reached, changedSince }: Needed): Promise<boolean | null> {
  const { head, epoch } = await copy.head();
  if (epoch !== person.epoch) return false;
  // Below the floor nothing can be said of what changed.
  const isNear = head >= reached && head >= person.floor;
  return isNear && (head >= person.at || !(await changedSince(head))) ? true : null;
}

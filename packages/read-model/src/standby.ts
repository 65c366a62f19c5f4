import { LogReader, type Logger } from '@wts/log';
import type { Pool } from 'pg';
import { poll } from './poll.ts';
import type { PersonGroups } from './visibility.ts';

/** `passed`: it replied, but lacks what the reader needs. `resting`: it was not read, because it failed a moment ago. */
export type StandbyOutcome = 'served' | 'passed' | 'failed' | 'resting';

/** What a database replica must have for a reader, as the primary had it at the time of the read. */
interface ReplicaRequirement {
  readonly person: PersonGroups;
  /** The highest position that the reader has. */
  readonly reached: bigint;
  /** Whether the primary's log has entries of the person's groups after a position. */
  readonly changedSince: (position: bigint) => Promise<boolean>;
}

interface StandbyOptions {
  readonly pool: Pool;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  readonly observe: (outcome: StandbyOutcome) => void;
  readonly backoffMs?: number;
}

/** The timeout of connections to a database replica: one that needs longer for a small query is no faster than the primary. */
export const STANDBY_TIMEOUT_MS = 2_000;
/** A failed read may take a whole timeout, so the replica is not read for this long after it. */
const BACKOFF_MS = 5_000;
/** A replica is usually milliseconds behind; waiting for it puts no load on the primary. */
const CATCH_UP = { everyMs: 10, timeoutMs: 100 } as const;
/** serialization_failure: replay removed rows that the query needed. The next query may succeed. */
const CONFLICT = '40001';

/**
 * A database replica, for reading. It may lag, be disconnected, hang, or be promoted, so a reader states what it must have, and
 * reads the primary otherwise.
 */
export class Standby {
  readonly #options: StandbyOptions;
  #hasFailed = false;
  #backoffUntil = 0;

  constructor(options: StandbyOptions) {
    this.#options = options;
  }

  /** The result of `work`; null when the primary must be read. Never rejects because of the replica. */
  async read<T>(work: (pool: Pool) => Promise<T | null>): Promise<T | null> {
    const { pool, observe, backoffMs = BACKOFF_MS } = this.#options;
    if (performance.now() < this.#backoffUntil) {
      observe('resting');
      return null;
    }
    // After a failure one caller at a time tries; the others read the primary.
    if (this.#hasFailed) this.#backoffUntil = performance.now() + backoffMs;
    try {
      const result = await work(pool);
      this.#recover();
      observe(result === null ? 'passed' : 'served');
      return result;
    } catch (error) {
      observe('failed');
      if ((error as { code?: string }).code !== CONFLICT) this.#backOff(error, backoffMs);
      return null;
    }
  }

  /**
   * The replica, as soon as it has all entries that the reader's groups had on the primary at the time of the call; entries of
   * other groups may be missing. So a reader reads their own writes, and a revoked membership gives no access. Null when the
   * replica does not have them in time: then the primary must be read.
   */
  poolFor(requirement: ReplicaRequirement): Promise<Pool | null> {
    return this.read(async (pool) => {
      const log = new LogReader(pool);
      return (await poll(() => hasAll(log, requirement), CATCH_UP)) === true ? pool : null;
    });
  }

  #backOff(error: unknown, backoffMs: number): void {
    this.#backoffUntil = performance.now() + backoffMs;
    if (!this.#hasFailed) {
      this.#options.logger.warn(
        { err: error },
        'the database replica does not reply; the primary is read. Check the replica',
      );
    }
    this.#hasFailed = true;
  }

  #recover(): void {
    if (!this.#hasFailed) return;
    this.#hasFailed = false;
    this.#backoffUntil = 0;
    this.#options.logger.info({}, 'the database replica replies again');
  }
}

/** Null while the entries may still arrive. */
async function hasAll(
  replica: LogReader,
  { person, reached, changedSince }: ReplicaRequirement,
): Promise<boolean | null> {
  const { head, epoch } = await replica.head();
  if (epoch !== person.epoch) return false;
  // Below the floor, changes cannot be read.
  const isNear = head >= reached && head >= person.floor;
  return isNear && (head >= person.at || !(await changedSince(head))) ? true : null;
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@wts/service-kit';
import type { Pool } from 'pg';
import { Groups, type PersonGroups } from '../groups/groups.ts';

export interface SourcesOptions {
  readonly primary: Pool;
  readonly replica: Pool | null;
  readonly logger: Pick<Logger, 'warn'>;
}

/** What a caller needs of a copy of the database, as the primary had it when they asked. */
export interface Need {
  readonly userId: string;
  readonly person: PersonGroups;
  /** A place the caller knows of. */
  readonly reached: bigint;
}

/** A copy is usually milliseconds behind; waiting for it costs the primary nothing. */
const CATCH_UP_MS = 100;
const LOOK_AGAIN_MS = 10;
/** A copy that failed is left alone for a while, because each try may cost a whole connection timeout. */
const REST_MS = 5_000;

/**
 * Where snapshots are read: a copy of the primary when there is one that has all the caller needs, else the primary. Who
 * sees what, and what the log has come to, is always asked of the primary.
 */
export class Sources {
  readonly primary: Pool;
  readonly groups: Groups;
  readonly hasReplica: boolean;
  readonly #replica: { readonly pool: Pool; readonly groups: Groups } | null;
  readonly #logger: Pick<Logger, 'warn'>;
  #restsUntil = 0;

  constructor({ primary, replica, logger }: SourcesOptions) {
    this.primary = primary;
    this.groups = new Groups(primary);
    this.hasReplica = replica !== null;
    this.#replica = replica === null ? null : { pool: replica, groups: new Groups(replica) };
    this.#logger = logger;
  }

  /** Whether the log has an entry of these groups after a place. Rests on index (group_id, sync_id). */
  async changedSince(place: bigint, groups: readonly string[]): Promise<boolean> {
    const { rows } = await this.primary.query<{ changed: boolean }>(
      `select exists(select from sync.sync_actions where group_id = any($1::uuid[]) and sync_id > $2) as changed`,
      [groups, place.toString()],
    );
    return rows[0]?.changed ?? false;
  }

  /**
   * A copy serves when it has everything the caller's groups had on the primary at the time of asking: changes of others
   * it may lack. So a caller reads what they wrote before, and nobody reads by a membership that was taken from them.
   */
  async pick(need: Need): Promise<Pool> {
    if (this.#replica === null || performance.now() < this.#restsUntil) return this.primary;
    const { pool, groups } = this.#replica;
    const { person, userId, reached } = need;
    const deadline = performance.now() + CATCH_UP_MS;
    try {
      for (;;) {
        const { at, epoch } = await groups.of(userId);
        if (epoch !== person.epoch) return this.primary;
        // Below the floor nothing can be said of what changed.
        const isNear = at >= reached && at >= person.floor;
        if (isNear && (at >= person.at || !(await this.changedSince(at, [...person.groups])))) return pool;
        if (performance.now() >= deadline) return this.primary;
        await sleep(LOOK_AGAIN_MS);
      }
    } catch (error) {
      this.rest(error);
      return this.primary;
    }
  }

  /** Leaves the copy alone for a while. */
  rest(error: unknown): void {
    this.#restsUntil = performance.now() + REST_MS;
    this.#logger.warn({ err: error }, 'the copy of the database does not answer; reading from the primary');
  }
}

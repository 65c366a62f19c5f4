import { hasEntries, LogReader } from '@wts/log';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Reads } from '../fairness/reads.ts';
import { Groups, type GroupMemory, type PersonGroups } from '../store/groups.ts';
import type { Standby } from '../store/standby.ts';

/** What a caller needs of a copy of the database, as the primary had it when they asked. */
export interface Need {
  readonly userId: string;
  readonly person: PersonGroups;
  /** A place the caller knows of. */
  readonly reached: bigint;
}

interface Asking {
  readonly userId: string;
  readonly workspaceId: string | null;
}

/** A copy is usually milliseconds behind; waiting for it costs the primary nothing. */
const CATCH_UP_MS = 100;
const LOOK_AGAIN_MS = 10;

interface SourcesOptions {
  readonly primary: Pool;
  readonly reads: Reads;
  readonly memory: GroupMemory;
  readonly standby: Standby | null;
}

/**
 * Where snapshots are read: a copy of the primary when there is one that has all the caller needs, else the primary. Who
 * sees what, and what the log has come to, is always asked of the primary.
 */
export class Sources {
  readonly primary: Pool;
  readonly hasStandby: boolean;
  readonly #reads: Reads;
  readonly #memory: GroupMemory;
  readonly #standby: Standby | null;

  constructor({ primary, reads, memory, standby }: SourcesOptions) {
    this.primary = primary;
    this.#reads = reads;
    this.#memory = memory;
    this.hasStandby = standby !== null;
    this.#standby = standby;
  }

  /** What a person may see now; when a credential is limited to a workspace, of what lies in that one. */
  groupsOf({ userId, workspaceId }: Asking, signal: AbortSignal): Promise<PersonGroups> {
    return this.#reads.run(userId, signal, (database) =>
      new Groups(database, this.#memory).of(userId, workspaceId ?? undefined),
    );
  }

  /** Whether the log has an entry of these groups after a place. */
  changedSince(userId: string, place: bigint, groups: readonly string[], signal: AbortSignal): Promise<boolean> {
    return this.#reads.run(userId, signal, (database) => hasEntries(database, groups, place));
  }

  /**
   * A copy serves when it has everything the caller's groups had on the primary at the time of asking: changes of others
   * it may lack. So a caller reads what they wrote before, and nobody reads by a membership that was taken from them.
   */
  async pick(need: Need, signal: AbortSignal): Promise<Pool> {
    const served = await this.#standby?.read(async (pool) => ((await this.#hasAll(pool, need, signal)) ? pool : null));
    return served ?? this.primary;
  }

  async #hasAll(copy: Pool, { person, userId, reached }: Need, signal: AbortSignal): Promise<boolean> {
    const log = new LogReader(copy);
    const deadline = performance.now() + CATCH_UP_MS;
    for (;;) {
      const { head: at, epoch } = await log.head();
      if (epoch !== person.epoch) return false;
      // Below the floor nothing can be said of what changed.
      const isNear = at >= reached && at >= person.floor;
      if (isNear && (at >= person.at || !(await this.changedSince(userId, at, [...person.groups], signal))))
        return true;
      if (performance.now() >= deadline) return false;
      await sleep(LOOK_AGAIN_MS);
    }
  }
}

import { hasEntries } from '@wts/log';
import { GroupReader, type GroupCache, type PersonGroups, type Standby } from '@wts/read-model';
import type { Pool } from 'pg';
import type { Reads } from '../fairness/reads.ts';

/** What a caller needs of a copy of the database, as the primary had it when they asked. */
export interface ReplicaNeeds {
  readonly userId: string;
  readonly person: PersonGroups;
  /** A position the caller knows of. */
  readonly reached: bigint;
}

interface SnapshotCaller {
  readonly userId: string;
  readonly workspaceId: string | null;
}

interface SourcesOptions {
  readonly primary: Pool;
  readonly reads: Reads;
  readonly groupCache: GroupCache;
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
  readonly #groupCache: GroupCache;
  readonly #standby: Standby | null;

  constructor({ primary, reads, groupCache, standby }: SourcesOptions) {
    this.primary = primary;
    this.#reads = reads;
    this.#groupCache = groupCache;
    this.hasStandby = standby !== null;
    this.#standby = standby;
  }

  /** What a person may see now; when a credential is limited to a workspace, of what lies in that one. */
  groupsOf({ userId, workspaceId }: SnapshotCaller, signal: AbortSignal): Promise<PersonGroups> {
    return this.#reads.run(userId, signal, (database) =>
      new GroupReader(database, this.#groupCache).of(userId, workspaceId ?? undefined),
    );
  }

  /** Whether the log has an entry of these groups after a position. */
  changedSince(userId: string, position: bigint, groups: readonly string[], signal: AbortSignal): Promise<boolean> {
    return this.#reads.run(userId, signal, (database) => hasEntries(database, groups, position));
  }

  /** A copy when it has all the caller needs, else the primary. */
  async pick({ userId, person, reached }: ReplicaNeeds, signal: AbortSignal): Promise<Pool> {
    const changedSince = (position: bigint): Promise<boolean> =>
      this.changedSince(userId, position, [...person.groups], signal);
    return (await this.#standby?.poolFor({ person, reached, changedSince })) ?? this.primary;
  }
}

import { hasEntries } from '@wts/log';
import { GroupReader, type GroupCache, type PersonGroups, type Standby } from '@wts/read-model';
import type { Pool } from 'pg';
import type { Reads } from '../fairness/reads.ts';

/** What a database replica must have to serve a caller, as the primary had it at the time of the request. */
export interface ReplicaNeeds {
  readonly userId: string;
  readonly person: PersonGroups;
  /** The answer must show at least this position. */
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
 * Chooses where snapshots are read: a database replica that has all that the caller needs, else the primary. The groups of
 * people and the head of the log are always read from the primary.
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

  /** The groups of a person now; only those in the workspace, when the credential is limited to one. */
  groupsOf({ userId, workspaceId }: SnapshotCaller, signal: AbortSignal): Promise<PersonGroups> {
    return this.#reads.run(userId, signal, (database) =>
      new GroupReader(database, this.#groupCache).of(userId, workspaceId ?? undefined),
    );
  }

  /** Whether the log has an entry for these groups after a position. */
  changedSince(userId: string, position: bigint, groups: readonly string[], signal: AbortSignal): Promise<boolean> {
    return this.#reads.run(userId, signal, (database) => hasEntries(database, groups, position));
  }

  /** The pool of a database replica that has what the caller needs, else of the primary. */
  async pick({ userId, person, reached }: ReplicaNeeds, signal: AbortSignal): Promise<Pool> {
    const changedSince = (position: bigint): Promise<boolean> =>
      this.changedSince(userId, position, [...person.groups], signal);
    return (await this.#standby?.poolFor({ person, reached, changedSince })) ?? this.primary;
  }
}

import { Fault, formatSyncId, syncApi } from '@wts/contracts';
import { type PersonGroups, visibleSelections } from '@wts/read-model';
import type { FairGate } from '@wts/service-kit/fairness';
import {
  SpooledSnapshot,
  tooManySnapshots,
  type Encoding,
  type SnapshotReader,
  type SnapshotTools,
} from '../snapshots/spooled-snapshot.ts';
import type { Sources } from '../snapshots/sources.ts';
import { unlessAborted } from '../unless-aborted.ts';
import { narrow, type Narrowed } from './narrow.ts';
import type { ParsedBootstrap } from './parsed-bootstrap.ts';
import { SYNC_LIMITS } from '../limits.ts';

/*
 * A bootstrap sends everything a caller may see, at one position of the log.
 *
 * It has two halves that do not wait for each other: a `SpooledSnapshot` copies a snapshot from PostgreSQL into a spool as
 * fast as it can (`snapshots/spooled-snapshot.ts`), and `sendSnapshot` sends an answer from the spool at the pace of its client
 * (`snapshots/send.ts`). Only the first line differs by caller, so one spooled snapshot serves all equal requests: a
 * reconnect storm costs PostgreSQL one snapshot for each workspace, not one for each client.
 *
 * A caller gets the spooled snapshot of another request only when
 *   - the caller's own group has no entry between the snapshot and now, so their memberships are the same in both;
 *   - the log still holds what follows the snapshot, and the snapshot has reached the position that the caller requires;
 *   - the snapshot shows all that was committed before the request: it was opened later, or its groups did not change since.
 * In a reconnect storm the last condition is dropped for snapshots that are seconds old, because the deltas after the
 * snapshot bring every client up to date.
 *
 * Keeps sync.bootstrap.lines.
 */

interface StartedAnswer {
  /** Differs by caller; repeats their schemaHash. Keeps sync.bootstrap.schema-hash. */
  readonly firstLine: string;
  /** The lines after it; null when the caller may see nothing. */
  readonly rest: JoinedSnapshot | null;
}

export interface BootstrapAnswer extends StartedAnswer, Disposable {}

export interface BootstrapOptions extends SnapshotTools {
  readonly sources: Sources;
}

/** A bootstrap starts again when the person's groups changed meanwhile. */
const TRIES_MAX = 4;
const KEPT_MAX = 64;
/** Of one person, so that many different requests of one person do not evict the snapshots of others. */
const KEPT_OF_ONE_MAX = 16;

/** The person's groups in the snapshot differ from those it was opened for. */
class GroupsChanged extends Error {}

export class Bootstraps implements Disposable {
  readonly #options: BootstrapOptions;
  readonly #gate: FairGate;
  readonly #sources: Sources;
  /** By the parameters of the request, the oldest first. */
  readonly #kept = new Map<string, SpooledSnapshot>();

  constructor(options: BootstrapOptions) {
    this.#options = options;
    this.#gate = options.gate;
    this.#sources = options.sources;
  }

  /** Starts an answer. The caller must dispose of it, because it counts against its person and holds a spool. */
  async answer(request: ParsedBootstrap, encoding: Encoding, signal: AbortSignal): Promise<BootstrapAnswer> {
    const admission = this.#admit(request.userId);
    if (admission === undefined) throw tooManySnapshots(this.#options.metrics);
    try {
      const { firstLine, rest } = await this.#start(request, encoding, signal);
      const end = (): void => {
        admission[Symbol.dispose]();
        rest?.snapshot.leave(rest.reader);
      };
      return { firstLine, rest, [Symbol.dispose]: end };
    } catch (error) {
      admission[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const key of this.#kept.keys()) this.#evict(key);
  }

  async #start(request: ParsedBootstrap, encoding: Encoding, signal: AbortSignal): Promise<StartedAnswer> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const person = await this.#sources.groupsOf(request, signal);
      const narrowed = narrow(request, person);
      if (narrowed.viewer.groups.length === 0) return { firstLine: firstLineOf(request, narrowed, person), rest: null };
      const rest = await this.#join({ request, person, narrowed, encoding, signal });
      try {
        const { at, epoch } = await unlessAborted(rest.snapshot.opened, signal);
        return { firstLine: firstLineOf(request, narrowed, { at: rest.at ?? at, epoch }), rest };
      } catch (error) {
        rest.snapshot.leave(rest.reader);
        if (!(error instanceof GroupsChanged)) throw error;
      }
    }
    throw new Fault('unavailable', { message: 'Your memberships are changing; try again shortly' });
  }

  /** Joins a kept snapshot that fits the caller, or opens a new one. */
  async #join(join: JoinRequest): Promise<JoinedSnapshot> {
    const { request, narrowed, encoding } = join;
    const { groups, person } = narrowed.viewer;
    const others = narrowed.all === groups ? null : narrowed.all;
    const key = JSON.stringify([encoding, request.models.map(({ name }) => name), groups, person, others]);
    for (let refused: SpooledSnapshot | undefined; ;) {
      const found = this.#kept.get(key);
      if (found === undefined || found === refused || !found.isShareable) return this.#open(key, join);
      const reader = found.join(request.userId);
      let at: bigint | null = null;
      try {
        at = await this.#positionFor(found, join);
      } finally {
        if (at === null) found.leave(reader);
      }
      if (at !== null) {
        this.#options.metrics.onShared();
        return { snapshot: found, reader, at };
      }
      refused = found;
    }
  }

  /** The position at which this snapshot is exact for the caller; null when they must not get it. */
  async #positionFor(
    snapshot: SpooledSnapshot,
    { request, person, narrowed, signal }: JoinRequest,
  ): Promise<bigint | null> {
    const { userId } = request;
    let opened: PersonGroups;
    try {
      opened = await unlessAborted(snapshot.opened, signal);
    } catch (error) {
      if (error instanceof GroupsChanged) return null;
      throw error;
    }
    if (opened.epoch !== person.epoch || opened.at < person.floor || opened.at < request.reached) return null;
    if (opened.at === person.at) return opened.at;
    const since = opened.at < person.at ? opened.at : person.at;
    if (await this.#sources.changedSince(userId, since, [userId], signal)) return null;
    if (opened.at > person.at) return opened.at;
    if (!(await this.#sources.changedSince(userId, opened.at, narrowed.all, signal))) return person.at;
    const ageMs = performance.now() - (snapshot.openedAt ?? 0);
    return this.#gate.isBusy && ageMs < SYNC_LIMITS.snapshotSharedMs ? opened.at : null;
  }

  #open(key: string, { request, person, narrowed, encoding }: JoinRequest): JoinedSnapshot {
    const { userId, workspaceId, models, reached } = request;
    const snapshot = new SpooledSnapshot(
      {
        userId,
        workspaceId,
        encoding,
        pool: (signal) => this.#sources.pick({ userId, person, reached }, signal),
        select: ({ groups }) => {
          if (groups.symmetricDifference(person.groups).size > 0) throw new GroupsChanged();
          return models.flatMap((model) => visibleSelections(model, narrowed.viewer, narrowed.all));
        },
        ending: (rows) => JSON.stringify({ type: 'end', rowCount: rows }),
      },
      this.#options,
    );
    const reader = snapshot.join(userId);
    this.#keep(key, snapshot);
    return { snapshot, reader, at: null };
  }

  #keep(key: string, snapshot: SpooledSnapshot): void {
    this.#evict(key);
    this.#kept.set(key, snapshot);
    snapshot.keep();
    const drop = (): void => {
      if (this.#kept.get(key) === snapshot) this.#evict(key);
    };
    void snapshot.done.then(() => {
      if (snapshot.isShareable) setTimeout(drop, SYNC_LIMITS.snapshotKeptMs).unref();
      else drop();
    });
    this.#evictOldest(
      [...this.#kept].filter(([, { person }]) => person === snapshot.person),
      KEPT_OF_ONE_MAX,
    );
    this.#evictOldest([...this.#kept], KEPT_MAX);
  }

  #evictOldest(kept: readonly [string, SpooledSnapshot][], max: number): void {
    for (const [key] of kept.slice(0, Math.max(0, kept.length - max))) this.#evict(key);
  }

  #evict(key: string): void {
    this.#kept.get(key)?.evict();
    this.#kept.delete(key);
  }

  /**
   * Admits an answer. When the budget is used up, kept snapshots without readers are dropped first: the person's own, or all
   * when the disk is short.
   */
  #admit(person: string): Disposable | undefined {
    const { budget } = this.#options;
    let admission = budget.admit(person);
    if (admission === undefined) {
      const isShort = budget.disk.isShort;
      for (const [key, snapshot] of this.#kept) {
        if (!snapshot.hasReaders && (isShort || snapshot.person === person)) this.#evict(key);
      }
      admission = budget.admit(person);
    }
    return admission;
  }
}

function firstLineOf(
  { schemaHash }: ParsedBootstrap,
  { subscribed }: Narrowed,
  { at, epoch }: Pick<PersonGroups, 'at' | 'epoch'>,
): string {
  const metadata = {
    lastSyncId: formatSyncId(at),
    subscribedSyncGroups: subscribed,
    schemaHash,
    databaseVersion: syncApi.DATABASE_VERSION,
    epoch,
  };
  return `${JSON.stringify(metadata)}\n`;
}

interface JoinedSnapshot {
  readonly snapshot: SpooledSnapshot;
  readonly reader: SnapshotReader;
  /** The position that the caller gets, when it is later than the snapshot's: between the two, nothing they may see changed. */
  readonly at: bigint | null;
}

interface JoinRequest {
  readonly request: ParsedBootstrap;
  readonly person: PersonGroups;
  readonly narrowed: Narrowed;
  readonly encoding: Encoding;
  readonly signal: AbortSignal;
}

import { LIMITS } from '@wts/contracts';
import { CLIENT_FLOOR, HEAD, IS_GAIN_OR_LOSS, GAINED_OR_LOST, readEntriesAtHead, stateRow } from '@wts/log';
import type { EntryRange, Queryable } from '@wts/log';
import { LRUCache } from 'lru-cache';
import { listOf, membershipListsSql, projectsOf, type MembershipLists } from './memberships.ts';
import type { FirstPage } from './page-reader.ts';
import { Visibility, type GroupSource, type GroupsWithGains, type PersonGroups, type Reader } from './visibility.ts';

interface LogStateRow {
  at: string;
  floor: string;
  epoch: string;
}

export interface PersonGroupsRow extends LogStateRow, MembershipLists {}

/**
 * A person's memberships, the head of the log and its state, of one snapshot. `userId` and `workspaceId` are SQL: a parameter,
 * or the literal of a checked id. With a workspace, only its memberships. `also` is further columns.
 */
export function personGroupsSql(userId: string, workspaceId: string, also = ''): string {
  return `select ${HEAD}::text as at, ${CLIENT_FLOOR}::text as floor, epoch::text,
    ${membershipListsSql(userId, workspaceId)}${also}
    from sync.log_state`;
}

export function personGroupsOf(userId: string, row: PersonGroupsRow): PersonGroups {
  const groups = new Set([userId, ...listOf(row.workspaces, ' ')]);
  for (const [, projects] of projectsOf(row, groups)) for (const project of projects) groups.add(project);
  return { groups, ...stateOf(row) };
}

function stateOf({ at, floor, epoch }: LogStateRow): Pick<PersonGroups, 'at' | 'floor' | 'epoch'> {
  return { at: BigInt(at), floor: BigInt(floor), epoch };
}

interface GroupsWithGainsRow extends PersonGroupsRow {
  /** `<group> <position>`: the latest gain of each group that the person ever gained. */
  gains: string;
}

/** Relies on index sync_actions_moves_idx. */
const ALL = personGroupsSql(
  '$1',
  '$2',
  `, array_to_string(array(
      select concat(gained, ' ', max(sync_id)) from (
        select ${GAINED_OR_LOST} as gained, sync_id from sync.sync_actions where group_id = $1::uuid and ${IS_GAIN_OR_LOSS} and action = 'INSERT'
      ) gain group by gained
    ), ',') as gains`,
);

/** After more gains and losses than these all groups are read again. */
const CHANGES_MAX = 1000;

/** The state of the log, and the gains and losses of the person after a position: almost always none. */
const CHANGES = `select ${HEAD}::text as at, ${CLIENT_FLOOR}::text as floor, epoch::text,
    array_to_string(array(
      select concat_ws(' ', sync_id, action, workspace_id, model, ${GAINED_OR_LOST}) from sync.sync_actions
      where group_id = $1::uuid and ${IS_GAIN_OR_LOSS} and sync_id > $2::bigint order by sync_id limit ${CHANGES_MAX + 1}
    ), ',') as changes
  from sync.log_state`;

interface ChangesRow extends LogStateRow {
  changes: string;
}

/**
 * The groups of people, cached for all readers of a process. Bounded by the number of groups: the entry used longest ago is
 * dropped first.
 */
export class GroupCache {
  readonly #cached: LRUCache<string, { readonly groups: GroupsWithGains; readonly readMs: number }>;
  /** Reads of all groups that are under way, shared by concurrent callers, because such a read may be large. */
  readonly #reads = new Map<string, Promise<GroupsWithGains>>();
  /** Counts invalidations: a read that began before one is not cached after it. */
  #generation = 0;

  constructor(groupsMax: number = LIMITS.groupsCachedMax) {
    this.#cached = new LRUCache({ maxSize: groupsMax, sizeCalculation: ({ groups }) => costOf(groups) });
  }

  get(key: string): GroupsWithGains | undefined {
    return this.#cached.get(key)?.groups;
  }

  /** Those that were read, or found unchanged, in this time. */
  recent(key: string, maxAgeMs: number): GroupsWithGains | undefined {
    const cached = this.#cached.get(key);
    return cached !== undefined && performance.now() - cached.readMs <= maxAgeMs ? cached.groups : undefined;
  }

  /** Passed to `set` with the result of a read that begins now. */
  get generation(): number {
    return this.#generation;
  }

  /** Caches the result of a read, unless there was an invalidation since, or a later one is cached. */
  set(key: string, groups: GroupsWithGains, generation: number): void {
    const cached = this.get(key);
    if (this.#generation !== generation || (cached?.epoch === groups.epoch && cached.at > groups.at)) return;
    this.#cached.set(key, { groups, readMs: performance.now() });
  }

  pendingRead(key: string): Promise<GroupsWithGains> | undefined {
    return this.#reads.get(key);
  }

  /** Reads all groups; concurrent callers share the read. */
  async readShared(key: string, read: () => Promise<GroupsWithGains>): Promise<GroupsWithGains> {
    const { generation } = this;
    const pending = read();
    this.#reads.set(key, pending);
    try {
      const groups = await pending;
      this.set(key, groups, generation);
      return groups;
    } finally {
      if (this.#reads.get(key) === pending) this.#reads.delete(key);
    }
  }

  /** Drops the groups of this person, or of all. */
  invalidate(userId?: string): void {
    this.#generation += 1;
    for (const key of [...this.#cached.keys(), ...this.#reads.keys()]) {
      if (userId !== undefined && !key.startsWith(userId)) continue;
      this.#cached.delete(key);
      this.#reads.delete(key);
    }
  }
}

/**
 * The groups of people, as the primary has them.
 *
 * They are cached, because a person may be in tens of thousands of private projects. Every change of a person's groups has an
 * entry in the person's own group, so one query for entries after the cached position finds the gains and losses since, which
 * are then applied to a copy. A returned set is never changed.
 *
 * All groups are read again when the person gained or lost a workspace, when entries after the cached position were trimmed, and
 * when the epoch of the log changed.
 */
export class GroupReader implements GroupSource {
  readonly #database: Queryable;
  readonly #cache: GroupCache;

  constructor(database: Queryable, cache = new GroupCache()) {
    this.#database = database;
    this.#cache = cache;
  }

  /** Own id, workspaces, private projects; for a credential limited to a workspace, only those in it. */
  async of(userId: string, workspaceId?: string): Promise<GroupsWithGains> {
    const key = readerKey(userId, workspaceId);
    // A read that is under way began before this call and may miss later changes.
    const before = this.#cache.pendingRead(key);
    await before?.catch(() => undefined);
    const earlier = this.#cache.get(key);
    const { generation } = this.#cache;
    const current = earlier && (await this.#applyChanges(earlier, userId, workspaceId));
    if (!current) {
      const pending = this.#cache.pendingRead(key);
      // The caller that began it may have closed its connection.
      const shared = pending === before ? undefined : await pending?.catch(() => undefined);
      return shared ?? this.#cache.readShared(key, () => this.#read(userId, workspaceId));
    }
    const cached = this.#cache.get(key);
    // Concurrent callers that applied the same changes share the first one's set, because it may be large.
    if (cached?.epoch === current.epoch && cached.at >= current.at) {
      this.#cache.set(key, cached, generation);
      return { ...cached, at: current.at, floor: current.floor };
    }
    this.#cache.set(key, current, generation);
    return current;
  }

  /**
   * What a reader may see at the head, with the first entries of it after a cursor, by one statement. The cached groups are used
   * for the page, and the same statement shows whether the person gained or lost any since; null when they did, when none are
   * cached, and for many groups.
   */
  async ofWithPage(
    reader: Reader,
    requested: ReadonlySet<string>,
    { after, limit }: Pick<EntryRange, 'after' | 'limit'>,
  ): Promise<FirstPage | null> {
    const { userId, workspaceId } = reader;
    const key = readerKey(userId, workspaceId);
    const earlier = this.#cache.get(key);
    if (earlier === undefined) return null;
    const { generation } = this.#cache;
    const { groupsToRead: groups } = new Visibility(reader, earlier, requested);
    const person = { userId, since: earlier.at };
    const page = await readEntriesAtHead(this.#database, { groups, after, limit }, person);
    if (page === null || page.hasMoved || page.epoch !== earlier.epoch || page.floor > earlier.at) return null;
    const current = { ...earlier, at: page.upTo, floor: page.floor };
    this.#cache.set(key, current, generation);
    return { visibility: new Visibility(reader, current, requested), page };
  }

  async since(position: bigint, userId: string, workspaceId?: string): Promise<GroupsWithGains> {
    return this.cached(position, userId, workspaceId) ?? (await this.of(userId, workspaceId));
  }

  cached(position: bigint, userId: string, workspaceId?: string): GroupsWithGains | null {
    const earlier = this.#cache.get(readerKey(userId, workspaceId));
    return earlier !== undefined && earlier.at >= position ? earlier : null;
  }

  invalidate(userId?: string): void {
    this.#cache.invalidate(userId);
  }

  /** The cached groups when they were read a short while ago: they may have changed since. */
  recent(maxAgeMs: number, userId: string, workspaceId?: string): GroupsWithGains | null {
    return this.#cache.recent(readerKey(userId, workspaceId), maxAgeMs) ?? null;
  }

  async #read(userId: string, workspaceId: string | undefined): Promise<GroupsWithGains> {
    const values = [userId, workspaceId ?? null];
    const { rows } = await this.#database.query<GroupsWithGainsRow>({ name: 'person_groups', text: ALL, values });
    return groupsWithGainsOf(userId, stateRow(rows));
  }

  /** Null when all groups must be read again. */
  async #applyChanges(
    earlier: GroupsWithGains,
    userId: string,
    workspaceId: string | undefined,
  ): Promise<GroupsWithGains | null> {
    const values = [userId, earlier.at.toString()];
    const { rows } = await this.#database.query<ChangesRow>({ name: 'group_changes', text: CHANGES, values });
    return afterChanges(earlier, stateRow(rows), workspaceId);
  }
}

/** In groups; the objects around them take as much memory as some more. */
function costOf({ groups }: GroupsWithGains): number {
  return groups.size + 4;
}

/** Equal for readers of the same groups. */
export function readerKey(userId: string, workspaceId: string | undefined): string {
  return workspaceId === undefined ? userId : `${userId} ${workspaceId}`;
}

function groupsWithGainsOf(userId: string, row: GroupsWithGainsRow): GroupsWithGains {
  const person = personGroupsOf(userId, row);
  const ever = new Map(
    listOf(row.gains, ',').map((gain): [string, bigint] => {
      const [group = '', position = '0'] = gain.split(' ');
      return [group, BigInt(position)];
    }),
  );
  const gains = new Map<string, bigint>();
  for (const group of person.groups) {
    const gain = ever.get(group);
    if (gain !== undefined) gains.set(group, gain);
  }
  for (const [home, projects] of projectsOf(row, person.groups)) {
    const opened = gains.get(home) ?? 0n;
    for (const project of projects) if (opened > (gains.get(project) ?? 0n)) gains.set(project, opened);
  }
  return { ...person, gains };
}

/** The groups after later gains and losses; null when all groups must be read again. */
function afterChanges(earlier: GroupsWithGains, row: ChangesRow, only: string | undefined): GroupsWithGains | null {
  const state = stateOf(row);
  if (state.epoch !== earlier.epoch || state.floor > earlier.at) return null;
  const changes = listOf(row.changes, ',');
  if (changes.length === 0) return { ...earlier, ...state };
  if (changes.length > CHANGES_MAX) return null;
  const groups = new Set(earlier.groups);
  const gains = new Map(earlier.gains);
  for (const change of changes) {
    const [position = '', action, home = '', model, group = ''] = change.split(' ');
    if (only !== undefined && home !== only) continue;
    if (model !== 'ProjectMember') return null;
    // A membership of a project in a workspace that was lost gives no group.
    if (!groups.has(home)) continue;
    groups.delete(group);
    gains.delete(group);
    if (action !== 'INSERT') continue;
    groups.add(group);
    gains.set(group, BigInt(position));
  }
  return { groups, gains, ...state };
}

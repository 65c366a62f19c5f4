import type { Entry } from '@wts/log';

/** A reader; their credential may be limited to one workspace. */
export interface Reader {
  readonly userId: string;
  readonly workspaceId?: string | undefined;
}

/** The groups that a person may see at one position of the log, and the floor and epoch of the log there. */
export interface PersonGroups {
  /** The person's own, their workspaces, the private projects they are in. The same object while the groups are the same. */
  readonly groups: ReadonlySet<string>;
  readonly at: bigint;
  /** Entries up to and including this position were trimmed. */
  readonly floor: bigint;
  readonly epoch: string;
}

/** The groups, with the position after which the entries of each may be shown. */
export interface GroupsWithGains extends PersonGroups {
  /**
   * Where the person last gained each of them. A group that is missing here was gained before the floor: every valid cursor is
   * after that gain.
   */
  readonly gains: ReadonlyMap<string, bigint>;
}

/** Provides the groups of a reader. */
export interface GroupSource {
  /** As they are at the head of the log. */
  of(userId: string, workspaceId?: string): Promise<GroupsWithGains>;
  /** As they are at this position or at a later one. */
  since(position: bigint, userId: string, workspaceId?: string): Promise<GroupsWithGains>;
  /** The same as `since` when it is cached, else null. */
  cached(position: bigint, userId: string, workspaceId?: string): GroupsWithGains | null;
  /** Drops the cached groups of this person, or of all. */
  invalidate(userId?: string): void;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Which entries of the log a reader is shown.
 *
 * The rule: an entry of a group is shown when the reader is in the group now and the entry follows their latest gain of it.
 * A client that reads the gain loads the records of the group, so it needs no entry before the gain, not even one of the same
 * commit: such an entry may be about a deleted record, or from a time when the reader was not in the group. Entries of a group that
 * the reader lost are not shown, including those before the loss. A private project is gained with the later of the memberships in
 * it and in its workspace, and lost with the first of their ends. The person's own group is always shown.
 *
 * The rule depends on positions and not on cursors, so it is the same for pages and sockets. The groups may be of a later position
 * than the entries: all gains and losses up to `at` are included.
 *
 * A person's own group has their gains and losses in all of their workspaces. A credential that is limited to one workspace
 * gets those of that one: keeps never.shown-outside.
 *
 * Keeps sync.deltas.own-groups, sync.socket.own-groups, sync.membership.from-gain and sync.membership.in-order.
 */
export class Visibility {
  readonly userId: string;
  /** The groups are exact up to this position. */
  readonly at: bigint;
  readonly floor: bigint;
  readonly epoch: string;
  /** All groups of which entries may be shown. Requested groups narrow them and never widen them. */
  readonly reachable: ReadonlySet<string>;
  readonly all: ReadonlySet<string>;
  readonly #gains: ReadonlyMap<string, bigint>;
  readonly #onlyWorkspaceId: string | undefined;
  readonly #requested: ReadonlySet<string>;

  /** No requested groups means all. */
  constructor({ userId, workspaceId }: Reader, current: GroupsWithGains, requested: ReadonlySet<string> = NONE) {
    this.userId = userId;
    this.#onlyWorkspaceId = workspaceId;
    this.at = current.at;
    this.floor = current.floor;
    this.epoch = current.epoch;
    this.all = current.groups;
    this.#gains = current.gains;
    // Some platforms write ids in capitals.
    this.#requested = requested.size === 0 ? NONE : new Set([...requested].map((group) => group.toLowerCase()));
    this.reachable = requested.size === 0 ? current.groups : current.groups.intersection(this.#requested);
  }

  /** The reader's own group has their gains and losses, so it is always read, also when it is not shown. */
  get groupsToRead(): ReadonlySet<string> {
    return this.reachable.has(this.userId) ? this.reachable : new Set([...this.reachable, this.userId]);
  }

  /** Whether entries of a group at a position may be shown. */
  allowsGroup(group: string, position: bigint): boolean {
    return this.reachable.has(group) && this.#isSinceGain(group, position);
  }

  isGainOrLoss(entry: Entry): boolean {
    return entry.gainedOrLost !== null && entry.groupId === this.userId;
  }

  /** True when the groups include the person's own and the credential is limited: each entry must then be checked. */
  mustFilterEntries(groups: ReadonlySet<string>): boolean {
    return this.#onlyWorkspaceId !== undefined && groups.has(this.userId);
  }

  /** Whether an entry may be shown. */
  allows(entry: Pick<Entry, 'id' | 'groupId' | 'workspaceId'>): boolean {
    return this.allowsGroup(entry.groupId, entry.id) && !this.isOutsideCredential(entry);
  }

  /** True for an entry of the reader's own group that is about another workspace than that of their credential. */
  isOutsideCredential({ workspaceId }: Pick<Entry, 'workspaceId'>): boolean {
    return this.#onlyWorkspaceId !== undefined && workspaceId !== null && workspaceId !== this.#onlyWorkspaceId;
  }

  /** Whether the reader named this group; false when they requested all. */
  isRequested(group: string): boolean {
    return this.#requested.has(group);
  }

  /** The current groups of the reader of which all entries after this position may be shown. */
  groupsAfter(position: bigint): ReadonlySet<string> {
    const groups = new Set([...this.all].filter((group) => this.#isSinceGain(group, position + 1n)));
    return groups.size === this.all.size ? this.all : groups;
  }

  #isSinceGain(group: string, position: bigint): boolean {
    const gain = this.#gains.get(group);
    return gain === undefined || position > gain;
  }
}

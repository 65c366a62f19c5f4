import type { Entry } from '@wts/log';

/** Who reads; a credential may be limited to one workspace. */
export interface Reader {
  readonly userId: string;
  readonly workspaceId?: string | undefined;
}

/** The groups a person may see, exact for a place in the log, and what the log was then. */
export interface PersonGroups {
  /** The person's own, their workspaces, the private projects they are in. The same set as long as it is the same groups. */
  readonly groups: ReadonlySet<string>;
  readonly at: bigint;
  /** Entries up to and including this place were trimmed. */
  readonly floor: bigint;
  readonly epoch: string;
}

/** With the place from which on entries of each group may be shown. */
export interface GroupsWithGains extends PersonGroups {
  /**
   * Where the person last gained each of them. A group that is missing here was gained before the floor: every cursor that
   * can be gone on from lies behind that gain.
   */
  readonly gains: ReadonlyMap<string, bigint>;
}

/** Where the groups of a reader come from. */
export interface GroupSource {
  /** As the log has them now. */
  of(userId: string, workspaceId?: string): Promise<GroupsWithGains>;
  /** As they are at this place or at a later one. */
  since(place: bigint, userId: string, workspaceId?: string): Promise<GroupsWithGains>;
  /** The same as `since` when nothing has to be read for it, else null. */
  cached(place: bigint, userId: string, workspaceId?: string): GroupsWithGains | null;
  /** What is remembered of this person, or of everybody, is read again. */
  invalidate(userId?: string): void;
}

const ALL: ReadonlySet<string> = new Set();

/**
 * Which entries of the log a reader is shown.
 *
 * The rule: an entry of a group is shown when the reader is in the group now and the entry follows their latest gain of it.
 * What was before a gain, also in the same commit, is part of the state that a client loads when it reads of the gain: an
 * entry of that time may be of people who kept it from this reader, or of what was deleted by then. A group that was lost is
 * not shown at all, whatever was the case when the entry was made. A private project is gained with the later of two, the
 * membership in it and in its workspace, and lost with the first. The person's own group is always shown.
 *
 * The rule looks at places alone and not at cursors, so it holds for pages, sockets and a look back alike, and knowing more
 * than is being shown does no harm: `at` is only the place up to which nothing new may be missing.
 *
 * A person's own group also tells what they become and cease to be in each of their workspaces. A credential that is
 * limited to one of them is told of that one: keeps never.shown-outside.
 *
 * Keeps sync.deltas.own-groups, sync.socket.own-groups, sync.membership.from-gain and sync.membership.in-order.
 */
export class Visibility {
  readonly userId: string;
  /** The groups are exact up to this place. */
  readonly at: bigint;
  readonly floor: bigint;
  readonly epoch: string;
  /** All groups of which anything may be shown; what is asked for narrows them and never widens. */
  readonly reachable: ReadonlySet<string>;
  readonly all: ReadonlySet<string>;
  readonly #gains: ReadonlyMap<string, bigint>;
  readonly #only: string | undefined;
  readonly #asked: ReadonlySet<string>;

  /** Asking for no groups asks for all. */
  constructor({ userId, workspaceId }: Reader, known: GroupsWithGains, asked: ReadonlySet<string> = ALL) {
    this.userId = userId;
    this.#only = workspaceId;
    this.at = known.at;
    this.floor = known.floor;
    this.epoch = known.epoch;
    this.all = known.groups;
    this.#gains = known.gains;
    // Ids are asked for in either case, as of bootstrap; some platforms write them in capitals.
    this.#asked = asked.size === 0 ? ALL : new Set([...asked].map((group) => group.toLowerCase()));
    this.reachable = asked.size === 0 ? known.groups : known.groups.intersection(this.#asked);
  }

  /** Gains and losses stand in the reader's own group, so it is always read, shown or not. */
  get groupsToRead(): ReadonlySet<string> {
    return this.reachable.has(this.userId) ? this.reachable : new Set([...this.reachable, this.userId]);
  }

  /** Whether what stands in a group at a place may be shown. */
  allowsGroup(group: string, place: bigint): boolean {
    return this.reachable.has(group) && this.#isSinceGain(group, place);
  }

  isMove(entry: Entry): boolean {
    return entry.movedGroup !== null && entry.groupId === this.userId;
  }

  /**
   * True when others with the same groups may be shown more of these than this reader: entries of the person's own group
   * must then be looked at one by one.
   */
  mustFilterEntries(groups: ReadonlySet<string>): boolean {
    return this.#only !== undefined && groups.has(this.userId);
  }

  /** Whether an entry may be shown. */
  allows(entry: Entry): boolean {
    return this.allowsGroup(entry.groupId, entry.id) && !this.isOutsideCredential(entry);
  }

  /** True for an entry of the reader's own group that their credential may not be told of. */
  isOutsideCredential({ workspaceId }: Entry): boolean {
    return this.#only !== undefined && workspaceId !== null && workspaceId !== this.#only;
  }

  /** Whether the reader named this group; false when they asked for all. */
  isRequested(group: string): boolean {
    return this.#asked.has(group);
  }

  /** All groups of the reader behind this place, of those they have now. */
  groupsAfter(place: bigint): ReadonlySet<string> {
    const groups = new Set([...this.all].filter((group) => this.#isSinceGain(group, place + 1n)));
    return groups.size === this.all.size ? this.all : groups;
  }

  #isSinceGain(group: string, place: bigint): boolean {
    const gain = this.#gains.get(group);
    return gain === undefined || place > gain;
  }
}

import type { Dialect, Entry } from './entry.ts';

/** Who reads; a credential may be limited to one workspace. */
export interface Reader {
  readonly userId: string;
  readonly workspaceId?: string | undefined;
}

/** The groups a person may see, exact for a place in the log, and what the log was then. */
export interface KnownGroups {
  readonly groups: ReadonlySet<string>;
  readonly at: bigint;
  /** Entries up to and including this place were trimmed. */
  readonly floor: bigint;
  readonly epoch: string;
  /** Those they had been in and were out of right after the place that was asked about. */
  readonly lost: Iterable<string>;
}

/** Where the groups of a reader come from. */
export interface GroupSource {
  after(place: bigint, userId: string, workspaceId?: string): Promise<KnownGroups>;
}

/**
 * What a reader may see, at one place in the log after another.
 *
 * The rule: what one may see now is shown, and of a group that was lost and gained again nothing that came between,
 * because a client drops a group when it hears of the loss and loads it again when it hears of the gain. Groups that
 * are out of reach now are never shown, whatever was the case when the entry was made.
 *
 * Gains and losses are entries of the reader's own group, so walking the entries in order keeps this exact, up to the
 * place the groups were read at. Beyond it they must be read again.
 *
 * A person's own group also tells what they become and cease to be in each of their workspaces. A credential that is
 * limited to one of them is told of that one: keeps never.shown-outside.
 *
 * Keeps sync.deltas.own-groups, sync.socket.own-groups and sync.membership.in-order.
 */
export class Visibility {
  readonly userId: string;
  /** The groups are exact up to this place. */
  readonly at: bigint;
  readonly floor: bigint;
  readonly epoch: string;
  /** All groups that may ever be shown; what is asked for narrows them and never widens. */
  readonly reachable: ReadonlySet<string>;
  readonly #only: string | undefined;
  readonly #all: ReadonlySet<string>;
  readonly #asked: ReadonlySet<string>;
  readonly #hidden: Set<string>;
  #visible: ReadonlySet<string>;

  private constructor(
    { userId, workspaceId }: Reader,
    { groups: all, at, floor, epoch, lost }: KnownGroups,
    asked: ReadonlySet<string>,
  ) {
    this.userId = userId;
    this.#only = workspaceId;
    this.at = at;
    this.floor = floor;
    this.epoch = epoch;
    // Ids are asked for in either case, as of bootstrap; some platforms write them in capitals.
    this.#asked = new Set([...asked].map((group) => group.toLowerCase()));
    this.reachable = asked.size === 0 ? all : all.intersection(this.#asked);
    this.#all = all;
    this.#hidden = new Set([...lost].filter((group) => all.has(group)));
    this.#visible = this.reachable.difference(this.#hidden);
  }

  /** As it is right after `place`. Asking for no groups asks for all. */
  static async read(
    source: GroupSource,
    reader: Reader,
    asked: ReadonlySet<string>,
    place: bigint,
  ): Promise<Visibility> {
    return new Visibility(reader, await source.after(place, reader.userId, reader.workspaceId), asked);
  }

  /** The groups whose entries are shown right now. */
  get groups(): ReadonlySet<string> {
    return this.#visible;
  }

  /** Gains and losses stand in the reader's own group, so it is always read, shown or not. */
  get followed(): ReadonlySet<string> {
    return new Set([...this.reachable, this.userId]);
  }

  isMove(entry: Entry): boolean {
    return entry.movedGroup !== null && entry.groupId === this.userId;
  }

  /** True for an entry of the reader's own group that their credential may not be told of. */
  #isElsewhere({ workspaceId }: Entry): boolean {
    return this.#only !== undefined && workspaceId !== null && workspaceId !== this.#only;
  }

  /**
   * True when others with the same groups may be shown more of these than this reader: entries of the person's own group
   * must then be looked at one by one.
   */
  mustSift(groups: ReadonlySet<string>): boolean {
    return this.#only !== undefined && groups.has(this.userId);
  }

  /**
   * True for an entry that a client in letters can only follow by loading everything anew: the loss of a private project
   * it has. Such a client drops what belongs to a group by one field of each model, and applications name the workspace
   * there: told of the loss alone, it would keep what is inside the project.
   */
  mustLoadAt(entry: Entry, dialect: Dialect): boolean {
    return (
      dialect === 'letters' &&
      entry.isProjectLoss &&
      this.isMove(entry) &&
      this.#asked.has(entry.movedGroup ?? '') &&
      !this.#isElsewhere(entry)
    );
  }

  /** Walks past an entry: its text when it is to be shown, else null. */
  show(entry: Entry, dialect: Dialect): string | null {
    const isMove = this.isMove(entry);
    if (isMove) this.#move(entry);
    if (!this.#visible.has(entry.groupId) || this.#isElsewhere(entry)) return null;
    const isSwitch = isMove && dialect === 'letters';
    return isSwitch ? entry.groupChangeText(this.userId, this.#all.difference(this.#hidden)) : entry.text(dialect);
  }

  #move({ action, movedGroup }: Entry): void {
    if (movedGroup === null || !this.#all.has(movedGroup)) return;
    if (action === 'INSERT') this.#hidden.delete(movedGroup);
    else this.#hidden.add(movedGroup);
    this.#visible = this.reachable.difference(this.#hidden);
  }
}

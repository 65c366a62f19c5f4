import { LIMITS } from '@wts/contracts';
import { CLIENT_FLOOR, HEAD, IS_MOVE, MOVED_GROUP, type Queryable } from '@wts/log';
import type { GroupSource, GroupsWithGains, PersonGroups } from './visibility.ts';

interface LogStateRow {
  at: string;
  floor: string;
  epoch: string;
}

/** Lists are divided by spaces and commas, because `pg` takes an array apart one character at a time. */
export interface PersonGroupsRow extends LogStateRow {
  workspaces: string;
  /** Each list of projects begins with their workspace. */
  projects: string;
}

/**
 * A person's memberships, the head of the log and its state, of one snapshot. `userId` and `workspaceId` are SQL: a
 * parameter, or the literal of a checked id. With a workspace, only what lies in it. `also` is further columns. Nothing is
 * joined, so no estimate of how many there are can make a bad plan. Rests on the indexes of `user_id`.
 */
export function personGroupsSql(userId: string, workspaceId: string, also = ''): string {
  const theirs = `user_id = ${userId}::uuid and (${workspaceId}::uuid is null or workspace_id = ${workspaceId}::uuid)`;
  return `select ${HEAD}::text as at, ${CLIENT_FLOOR}::text as floor, epoch::text,
    array_to_string(array(select workspace_id from sync.workspace_members where ${theirs}), ' ') as workspaces,
    array_to_string(array(
      select concat(workspace_id, ' ', string_agg(project_id::text, ' ')) from sync.project_members
      where ${theirs} and group_id = project_id group by workspace_id
    ), ',') as projects${also}
    from sync.log_state`;
}

/**
 * The membership of the workspace opens and shuts everything in it: a membership of a project that is still there when that
 * one has ended opens nothing. Keeps sync.membership.workspace-first and never.shown-outside.
 */
export function personGroupsOf(userId: string, row: PersonGroupsRow | undefined): PersonGroups {
  const groups = new Set([userId, ...listOf(row?.workspaces, ' ')]);
  for (const [, projects] of projectsOf(row, groups)) for (const project of projects) groups.add(project);
  return { groups, ...stateOf(row) };
}

/** The private projects of each workspace the person is in. */
function projectsOf(row: PersonGroupsRow | undefined, held: ReadonlySet<string>): [home: string, projects: string[]][] {
  return listOf(row?.projects, ',').flatMap((list): [string, string[]][] => {
    const [home = '', ...projects] = list.split(' ');
    return held.has(home) ? [[home, projects]] : [];
  });
}

function stateOf(row: LogStateRow | undefined): Pick<PersonGroups, 'at' | 'floor' | 'epoch'> {
  if (row === undefined) throw new Error('sync.log_state has no row: the migrations did not run to the end');
  const { at, floor, epoch } = row;
  return { at: BigInt(at), floor: BigInt(floor), epoch };
}

function listOf(text: string | undefined, divider: string): string[] {
  return text === undefined || text === '' ? [] : text.split(divider);
}

interface GroupsWithGainsRow extends PersonGroupsRow {
  /** `<group> <place>`: the latest gain of each group that the person ever gained. */
  gains: string;
}

/** Rests on index sync_actions_moves_idx. */
const ALL = personGroupsSql(
  '$1',
  '$2',
  `, array_to_string(array(
      select concat(moved, ' ', max(sync_id)) from (
        select ${MOVED_GROUP} as moved, sync_id from sync.sync_actions where group_id = $1::uuid and ${IS_MOVE} and action = 'INSERT'
      ) gain group by moved
    ), ',') as gains`,
);

/** More moves than these are not followed one by one: everything is read again. */
const MOVES_MAX = 1000;

/** The state of the log, and what the person gained and lost since a place: almost always nothing. */
const MOVES = `select ${HEAD}::text as at, ${CLIENT_FLOOR}::text as floor, epoch::text,
    array_to_string(array(
      select concat_ws(' ', sync_id, action, workspace_id, model, ${MOVED_GROUP}) from sync.sync_actions
      where group_id = $1::uuid and ${IS_MOVE} and sync_id > $2::bigint order by sync_id limit ${MOVES_MAX + 1}
    ), ',') as moves
  from sync.log_state`;

interface MovesRow extends LogStateRow {
  moves: string;
}

/**
 * What a process remembers of people's groups, for all who read them. It is bounded by the number of groups: who was not
 * asked for longest goes first.
 */
export class GroupCache {
  readonly #groupsMax: number;
  /** By reader; the one used longest ago is first. */
  readonly #known = new Map<string, GroupsWithGains>();
  #groups = 0;
  /** Readings of all groups that are under way: one for all who ask at the same time, because it may be much. */
  readonly #readings = new Map<string, Promise<GroupsWithGains>>();
  /** How often anything was forgotten: what was asked for before that is not kept after it. */
  #forgotten = 0;

  constructor(groupsMax: number = LIMITS.groupsCachedMax) {
    this.#groupsMax = groupsMax;
  }

  get(key: string): GroupsWithGains | undefined {
    return this.#known.get(key);
  }

  /** To be given back with what is read from now on. */
  mark(): number {
    return this.#forgotten;
  }

  /** Keeps what was read, unless something was forgotten since the mark, or more is known. */
  keep(key: string, known: GroupsWithGains, mark: number): void {
    const kept = this.#known.get(key);
    if (this.#forgotten !== mark || (kept?.epoch === known.epoch && kept.at > known.at)) return;
    this.#set(key, known);
  }

  reading(key: string): Promise<GroupsWithGains> | undefined {
    return this.#readings.get(key);
  }

  /** Reads all groups, and lets those who ask meanwhile wait for it. */
  async whole(key: string, read: () => Promise<GroupsWithGains>): Promise<GroupsWithGains> {
    const mark = this.mark();
    const reading = read();
    this.#readings.set(key, reading);
    try {
      const known = await reading;
      this.keep(key, known, mark);
      return known;
    } finally {
      if (this.#readings.get(key) === reading) this.#readings.delete(key);
    }
  }

  /** What is known of this person, or of everybody. */
  invalidate(userId?: string): void {
    this.#forgotten += 1;
    for (const key of [...this.#known.keys(), ...this.#readings.keys()]) {
      if (userId !== undefined && !key.startsWith(userId)) continue;
      this.#drop(key);
      this.#readings.delete(key);
    }
  }

  #set(key: string, known: GroupsWithGains): void {
    this.#drop(key);
    if (costOf(known) > this.#groupsMax) return;
    this.#known.set(key, known);
    this.#groups += costOf(known);
    for (const oldest of this.#known.keys()) {
      if (this.#groups <= this.#groupsMax) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#groups -= costOf(known);
    this.#known.delete(key);
  }
}

/**
 * The groups of people, as the primary has them.
 *
 * What was read is remembered, because somebody may be in tens of thousands of private projects: nobody changes a person's
 * groups without an entry in the person's own group, so one look at the log, past the place at which they were read, tells
 * whether they are the same. Only those gained or lost since are then taken over. What is given out is never changed
 * afterwards.
 *
 * It is read anew when the person gained or lost a whole workspace, when entries after the remembered place were trimmed,
 * and when the log is another one (`epoch`).
 */
export class GroupReader implements GroupSource {
  readonly #database: Queryable;
  readonly #cache: GroupCache;

  constructor(database: Queryable, cache = new GroupCache()) {
    this.#database = database;
    this.#cache = cache;
  }

  /** Own id, workspaces, private projects; for a credential that is limited to a workspace, what lies in that one. */
  async of(userId: string, workspaceId?: string): Promise<GroupsWithGains> {
    const key = keyOf(userId, workspaceId);
    // A reading that is under way began before this call: what happened until now may be missing there.
    const before = this.#cache.reading(key);
    await before?.catch(() => undefined);
    const known = this.#cache.get(key);
    const mark = this.#cache.mark();
    const current = known && (await this.#follow(known, userId, workspaceId));
    if (!current) {
      const begun = this.#cache.reading(key);
      // Whoever began it may be gone, and with them the connection.
      const shared = begun === before ? undefined : await begun?.catch(() => undefined);
      return shared ?? this.#cache.whole(key, () => this.#read(userId, workspaceId));
    }
    const kept = this.#cache.get(key);
    // Of two who took over the same move, both go on with the set of the first: it may be large.
    if (kept?.epoch === current.epoch && kept.at >= current.at)
      return { ...kept, at: current.at, floor: current.floor };
    this.#cache.keep(key, current, mark);
    return current;
  }

  async since(place: bigint, userId: string, workspaceId?: string): Promise<GroupsWithGains> {
    return this.cached(place, userId, workspaceId) ?? (await this.of(userId, workspaceId));
  }

  cached(place: bigint, userId: string, workspaceId?: string): GroupsWithGains | null {
    const known = this.#cache.get(keyOf(userId, workspaceId));
    return known !== undefined && known.at >= place ? known : null;
  }

  invalidate(userId?: string): void {
    this.#cache.invalidate(userId);
  }

  async #read(userId: string, workspaceId: string | undefined): Promise<GroupsWithGains> {
    const values = [userId, workspaceId ?? null];
    const { rows } = await this.#database.query<GroupsWithGainsRow>({ name: 'person_groups', text: ALL, values });
    return knownGroupsOf(userId, rows[0]);
  }

  /** Null when they must be read anew. */
  async #follow(
    known: GroupsWithGains,
    userId: string,
    workspaceId: string | undefined,
  ): Promise<GroupsWithGains | null> {
    const values = [userId, known.at.toString()];
    const { rows } = await this.#database.query<MovesRow>({ name: 'person_moves', text: MOVES, values });
    return afterMoves(known, rows[0], workspaceId);
  }
}

/** In groups: what holds them costs as much as some more. */
function costOf({ groups }: GroupsWithGains): number {
  return groups.size + 4;
}

function keyOf(userId: string, workspaceId: string | undefined): string {
  return workspaceId === undefined ? userId : `${userId} ${workspaceId}`;
}

function knownGroupsOf(userId: string, row: GroupsWithGainsRow | undefined): GroupsWithGains {
  const person = personGroupsOf(userId, row);
  const ever = new Map(
    listOf(row?.gains, ',').map((gain): [string, bigint] => {
      const [group = '', place = '0'] = gain.split(' ');
      return [group, BigInt(place)];
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

/** The groups after what was gained and lost since; null when they must be read anew. */
function afterMoves(
  known: GroupsWithGains,
  row: MovesRow | undefined,
  only: string | undefined,
): GroupsWithGains | null {
  const state = stateOf(row);
  if (state.epoch !== known.epoch || state.floor > known.at) return null;
  const moves = listOf(row?.moves, ',');
  if (moves.length === 0) return { ...known, ...state };
  if (moves.length > MOVES_MAX) return null;
  const groups = new Set(known.groups);
  const gains = new Map(known.gains);
  for (const move of moves) {
    const [place = '', action, home = '', model, moved = ''] = move.split(' ');
    if (only !== undefined && home !== only) continue;
    if (model !== 'ProjectMember') return null;
    // What is left of a workspace that was lost opens nothing.
    if (!groups.has(home)) continue;
    groups.delete(moved);
    gains.delete(moved);
    if (action !== 'INSERT') continue;
    groups.add(moved);
    gains.set(moved, BigInt(place));
  }
  return { groups, gains, ...state };
}

import assert from 'node:assert/strict';
import type { StoredEntry } from '@wts/contracts';
import type { TestEngines, TestPerson } from './test-engines.ts';

export interface ModelProject {
  readonly home: string;
  isPrivate: boolean;
  isDeleted: boolean;
  /** The id of the membership, by person. */
  readonly members: Map<string, string>;
}

/**
 * Records all changes, and derives from them who is in which group and since when. It has no cursors, pages or sockets, so it
 * is simple enough to be the expected result.
 */
export class GroupsModel {
  readonly engines: TestEngines;
  readonly people: readonly TestPerson[];
  readonly workspaces: readonly string[];
  /** The ids of the memberships, by person. */
  readonly members: ReadonlyMap<string, Map<string, string>>;
  readonly projects = new Map<string, ModelProject>();
  readonly entries: StoredEntry[] = [];
  /** The people in the group of an entry when it was written, by position. */
  readonly #readers = new Map<string, ReadonlySet<string>>();
  #gains = new Map<string, bigint>();
  #groupsBefore = new Map<string, ReadonlySet<string>>();
  head: bigint;
  /** The model has no entries before this position: its start, later the floor of the log. */
  floor: bigint;

  constructor(
    engines: TestEngines,
    people: readonly TestPerson[],
    members: ReadonlyMap<string, Map<string, string>>,
    head: bigint,
  ) {
    this.engines = engines;
    this.people = people;
    this.members = members;
    this.workspaces = [...members.keys()];
    this.head = head;
    this.floor = head;
    for (const { id } of people) this.#groupsBefore.set(id, this.groupsOf(id));
  }

  groupsOf(userId: string): ReadonlySet<string> {
    const homes = this.workspaces.filter((home) => this.members.get(home)?.has(userId));
    const inside = [...this.projects].filter(
      ([, { home, isPrivate, isDeleted, members }]) =>
        isPrivate && !isDeleted && members.has(userId) && homes.includes(home),
    );
    return new Set([userId, ...homes, ...inside.map(([id]) => id)]);
  }

  /** Makes a change and records its entries. */
  async run(act: () => Promise<unknown>): Promise<void> {
    await act();
    await this.engines.sweep();
    const made = await this.engines.entries(this.head);
    this.entries.push(...made);
    this.head = BigInt(made.at(-1)?.syncId ?? this.head);
    for (const { id } of this.people) this.#noteGains(id, made);
    const groups = new Map(this.people.map(({ id }) => [id, this.groupsOf(id)]));
    for (const { syncId, groupId } of made) {
      const inside = this.people.filter(({ id }) =>
        [this.#groupsBefore, groups].some((of) => of.get(id)?.has(groupId)),
      );
      this.#readers.set(syncId, new Set(inside.map(({ id }) => id)));
    }
    this.#groupsBefore = groups;
  }

  #noteGains(userId: string, made: readonly StoredEntry[]): void {
    const before = this.#groupsBefore.get(userId);
    for (const group of this.groupsOf(userId)) {
      const home = this.projects.get(group)?.home;
      const gain = made.findLast(
        ({ groupId, action, modelName, record }) =>
          groupId === userId &&
          action === 'INSERT' &&
          (modelName === 'ProjectMember'
            ? record['projectId'] === group
            : modelName === 'WorkspaceMember' && [group, home].includes(record['workspaceId'] as string)),
      );
      assert.ok(gain !== undefined || before?.has(group) === true, `no entry has the gain of ${group}`);
      if (gain) this.#gains.set(`${userId} ${group}`, BigInt(gain.syncId));
    }
  }

  wasFor(userId: string, syncId: string): boolean {
    return this.#readers.get(syncId)?.has(userId) ?? false;
  }

  /** The entries that a person is sent after a position; with a credential for one workspace, those of that workspace. */
  shown(userId: string, after: bigint, only?: string): string[] {
    const groups = this.groupsOf(userId);
    return this.entries
      .filter(({ syncId, groupId, workspaceId }) => {
        const position = BigInt(syncId);
        const isInside = only === undefined || workspaceId === only || (groupId === userId && workspaceId === null);
        return (
          position > after &&
          isInside &&
          groups.has(groupId) &&
          position > (this.#gains.get(`${userId} ${groupId}`) ?? 0n)
        );
      })
      .map(({ syncId }) => syncId);
  }
}

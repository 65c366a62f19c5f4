import { syncApi, type BodyOf, type Member, type OperatorWorkspace, type Role } from '@wts/contracts';
import { RoleRules } from '@wts/read-model';
import type { Cells } from '../cells/cells.ts';
import { pagesOf } from '../domain/pages.ts';
import type { CellStore } from '../store/cells.ts';
import { openCellDirectory, type AskedCell } from './cell-directory.ts';
import { askOne, gather, type Gathered } from './gather.ts';
import { openCellLookup, type CellLookup } from './cell-lookup.ts';

export type Directory = ReturnType<typeof openDirectory>;

/** Where a page waits for several cells: one that needs longer is away. */
const CELL_ANSWERS_MS = 3_000;

/**
 * People, workspaces and memberships, wherever they are. A question about a workspace goes to the cell that has it, one about a person to
 * the cells in which they have a record: a cell that does not answer is `unavailable` for what lives there, and for nothing else.
 */
export function openDirectory(cells: Cells, store: CellStore) {
  const timeoutMs = cells.isOne ? undefined : CELL_ANSWERS_MS;
  const asked = cells.all.map((cell): AskedCell => ({ ...cell, ...openCellDirectory(cell.sync, timeoutMs) }));
  const [home] = asked;
  if (home === undefined) throw new Error('there is a cell');
  const lookup = openCellLookup(asked, store);
  const { cellOf } = lookup;
  /** The cells in which a person has a record, the first before the others. */
  const cellsOf = async (userId: string): Promise<readonly AskedCell[]> => {
    if (asked.length === 1) return asked;
    const shards = await store.shardsOf(userId);
    return asked.filter((cell) => cell === home || shards.includes(cell.shard));
  };
  const members = async (page: BodyOf<typeof syncApi.internalListMembers>): Promise<readonly Member[]> =>
    (await cellOf(page.workspaceId))?.members(page) ?? [];
  return {
    /** In the order of their numbers. */
    cells: asked,
    cellOf,
    cellOfUrlKey: lookup.cellOfUrlKey,
    cellsOf,
    // Everyone has a record in the first cell; copies of those who are elsewhere too keep them known while it is away.
    person: async (userId: string) => {
      const { found, away } = await gather(await cellsOf(userId), async (cell) => {
        const person = await cell.person(userId);
        return person === null ? [] : [person];
      });
      return found[0] ?? (away.length === 0 ? null : home.person(userId));
    },
    workspacesOf: async (userId: string) => gather(await cellsOf(userId), (cell) => cell.workspacesOf(userId)),
    /** Null for a person who is not in the workspace. */
    roleIn: async (userId: string, workspaceId: string) =>
      (await cellOf(workspaceId))?.roleIn(userId, workspaceId) ?? null,
    membershipDetails: async (userId: string) =>
      gather(await cellsOf(userId), (cell) => cell.membershipDetails(userId)),
    /** All members of a workspace. */
    membersOf: async (workspaceId: string) => {
      const limit = syncApi.RECORDS_PAGE_MAX;
      const pages = pagesOf<Member>(limit, (last) =>
        members({ workspaceId, limit, ...(last === undefined ? {} : { after: last.userId }) }),
      );
      return (await Array.fromAsync(pages)).flat();
    },
    members,
    membershipChanges: async (page: BodyOf<typeof syncApi.internalListMembershipChanges>) =>
      (await cellOf(page.workspaceId))?.membershipChanges(page) ?? [],
    findPeople: (page: BodyOf<typeof syncApi.internalFindPeople>) => findPeople(asked, page),
    /** By cell, and there by name. */
    findWorkspaces: (page: BodyOf<typeof syncApi.internalFindWorkspaces>) => findWorkspaces(asked, lookup, page),
    counts: () => gather(asked, async (cell) => [await cell.counts()]),
  };
}

/** Everyone is in the first cell; how many workspaces they have, all of them say. */
async function findPeople([home, ...others]: readonly AskedCell[], page: BodyOf<typeof syncApi.internalFindPeople>) {
  const people = (await home?.findPeople(page)) ?? [];
  if (others.length === 0 || people.length === 0) return { found: people, away: [] };
  const onlyIds = people.map(({ userId }) => userId);
  const limit = onlyIds.length;
  const { found, away } = await gather(others, (cell) =>
    cell.findPeople({ text: null, orIds: onlyIds, onlyIds: true, limit }),
  );
  const more = Map.groupBy(found, ({ userId }) => userId);
  const countOf = (userId: string): number => more.get(userId)?.reduce((sum, one) => sum + one.workspaces, 0) ?? 0;
  return {
    found: people.map((person) => ({ ...person, workspaces: person.workspaces + countOf(person.userId) })),
    away,
  };
}

/**
 * A page is of one cell after the other, in the order of their numbers, because each sorts by the rules of its database. It goes on in the
 * cell of its last workspace. A copy of a workspace that moves, or has moved, is left out.
 */
async function findWorkspaces(
  asked: readonly AskedCell[],
  lookup: CellLookup,
  page: BodyOf<typeof syncApi.internalFindWorkspaces>,
): Promise<Gathered<OperatorWorkspace>> {
  if (asked.length === 1) return gather(asked, (cell) => cell.findWorkspaces(page));
  const { after, id, urlKey } = page;
  if (id !== undefined || urlKey !== undefined) {
    const cell = id === undefined ? await lookup.cellOfUrlKey(urlKey ?? '') : await lookup.cellOf(id);
    const named = (await cell?.findWorkspaces(page)) ?? [];
    return { found: named.map((workspace) => withCell(workspace, cell)), away: [] };
  }
  const from = after === undefined ? null : await lookup.cellOf(after);
  const found: OperatorWorkspace[] = [];
  const away: string[] = [];
  for (const cell of asked.filter(({ shard }) => from === null || shard >= from.shard)) {
    let last = cell === from ? after : undefined;
    while (found.length < page.limit) {
      const { after: _after, ...first } = page;
      const next = { ...first, limit: page.limit - found.length, ...(last === undefined ? {} : { after: last }) };
      const answer = await askOne(cell, (one) => one.findWorkspaces(next));
      away.push(...answer.away);
      const own = await lookup.withoutCopies(cell.shard, answer.found);
      found.push(...own.map((workspace) => withCell(workspace, cell)));
      last = answer.found.at(-1)?.id;
      if (answer.found.length < next.limit) break;
    }
  }
  return { found, away };
}

function withCell(workspace: OperatorWorkspace, cell: AskedCell | null): OperatorWorkspace {
  return cell === null ? workspace : { ...workspace, cell: cell.shard };
}

/** The roles of people in workspaces, at the moment of each question. */
export class DirectoryRoles extends RoleRules {
  readonly #directory: Pick<Directory, 'roleIn'>;

  constructor(directory: Pick<Directory, 'roleIn'>) {
    super();
    this.#directory = directory;
  }

  of(userId: string, workspaceId: string): Promise<Role | null> {
    return this.#directory.roleIn(userId, workspaceId);
  }
}

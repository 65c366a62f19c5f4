import type { OperatorWorkspace } from '@wts/contracts';
import { pagesOf } from '../domain/pages.ts';
import type { CellStore } from '../store/cells.ts';
import type { AskedCell } from './cell-directory.ts';
import { gather } from './gather.ts';

/** Which cell has which workspace. With one cell nothing is looked up. */
export interface CellLookup {
  /** Null for a workspace that no cell has. */
  readonly cellOf: (workspaceId: string) => Promise<AskedCell | null>;
  readonly cellOfUrlKey: (urlKey: string) => Promise<AskedCell | null>;
  /** Those that are in the cell by the directory. */
  readonly withoutCopies: (
    shard: number,
    workspaces: readonly OperatorWorkspace[],
  ) => Promise<readonly OperatorWorkspace[]>;
}

/** A page of a list of a cell. */
const PAGE = 1000;

export function openCellLookup(asked: readonly AskedCell[], store: CellStore): CellLookup {
  const [home] = asked;
  if (home === undefined) throw new Error('there is a cell');
  if (asked.length === 1)
    return { cellOf: async () => home, cellOfUrlKey: async () => home, withoutCopies: async (_shard, all) => all };
  const cellAt = (shard: number): AskedCell | null => asked.find((cell) => cell.shard === shard) ?? null;
  return {
    cellOf: async (workspaceId) => {
      const placed = await store.find(workspaceId);
      if (placed !== null) return cellAt(placed.shard);
      return findNew(asked, store, { id: workspaceId });
    },
    cellOfUrlKey: async (urlKey) => {
      const placed = await store.findByUrlKey(urlKey);
      if (placed !== null) return cellAt(placed.shard);
      return findNew(asked, store, { urlKey });
    },
    withoutCopies: async (shard, workspaces) => {
      const ids = workspaces.map(({ id }) => id);
      const elsewhere = new Set(await store.elsewhere(shard, ids));
      return workspaces.filter(({ id }) => !elsewhere.has(id));
    },
  };
}

/**
 * Asks for a workspace that the directory does not have: one that a cell had before there were several, or that was made without a claim.
 * A cell that is away counts as without it once its workspaces were listed, so that a wrong id is answered while it is.
 */
async function findNew(
  asked: readonly AskedCell[],
  store: CellStore,
  named: { readonly id: string } | { readonly urlKey: string },
): Promise<AskedCell | null> {
  const { found, away } = await gather(asked, async (cell) =>
    (await cell.findWorkspaces({ ...named, limit: 1 })).map((workspace) => ({ cell, workspace })),
  );
  const [first] = found;
  if (first !== undefined) {
    const { cell, workspace } = first;
    await store.add([{ workspaceId: workspace.id, urlKey: workspace.urlKey, shard: cell.shard }]);
    return cell;
  }
  const listed = away.length === 0 ? [] : await store.listed();
  const unknown = asked.find(({ shard, baseUrl }) => away.includes(baseUrl) && !listed.includes(shard));
  // The fault of that cell.
  await unknown?.findWorkspaces({ ...named, limit: 1 });
  return null;
}

/** Writes down which workspaces a cell has, and forgets those that it no longer has. Each cell by itself, so that one that is away holds up none. */
export async function listWorkspacesOf(cell: AskedCell, store: CellStore): Promise<void> {
  const ids: string[] = [];
  const pages = pagesOf<OperatorWorkspace>(PAGE, (last) =>
    cell.findWorkspaces({ limit: PAGE, ...(last === undefined ? {} : { after: last.id }) }),
  );
  for await (const page of pages) {
    await store.add(page.map(({ id, urlKey }) => ({ workspaceId: id, urlKey, shard: cell.shard })));
    ids.push(...page.map(({ id }) => id));
  }
  await store.removeOthers(cell.shard, ids);
  await store.setListed(cell.shard);
}

import type { BodyOf, cellApi } from '@wts/contracts';
import type { Cells } from '../cells/cells.ts';
import type { CellStore } from '../store/cells.ts';

interface CellsContext {
  readonly cells: Cells;
  readonly workspaceCells: Pick<CellStore, 'find' | 'shardsOf'>;
}

/**
 * Where a person may have more workspaces than a cell lists: each cell answers for itself, so that one that is away hides no workspace.
 * Keeps workspaces.list.elsewhere.
 */
export async function readCells(
  { cells, workspaceCells }: CellsContext,
  { userId, shard, workspaceId }: BodyOf<typeof cellApi.internalReadCells>,
): Promise<{ readonly baseUrl: string; readonly elsewhere: string[] }> {
  const { baseUrl } = cells.of(shard);
  if (cells.isOne) return { baseUrl, elsewhere: [] };
  const shards =
    workspaceId === undefined
      ? [cells.home.shard, ...(await workspaceCells.shardsOf(userId))]
      : [(await workspaceCells.find(workspaceId))?.shard];
  const others = cells.all.filter((cell) => cell.shard !== shard && shards.includes(cell.shard));
  return { baseUrl, elsewhere: others.map((cell) => cell.baseUrl) };
}

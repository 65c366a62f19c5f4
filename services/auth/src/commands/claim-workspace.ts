import { Fault, type BodyOf, type cellApi } from '@wts/contracts';
import type { Context } from '../context.ts';
import { onFault } from '../domain/on-fault.ts';

type ClaimContext = Pick<Context, 'cells' | 'directory' | 'workspaceCells' | 'copyPerson'>;
type Claim = BodyOf<typeof cellApi.internalClaimWorkspace>;

/**
 * Claims a workspace for its cell before it is committed there, because the unique index of a cell does not know the urlKeys of the others.
 * A claim may be repeated; one whose workspace never came ends when another person wants its urlKey, or when the workspaces of the cell are
 * listed.
 */
export async function claimWorkspace(context: ClaimContext, claim: Claim): Promise<void> {
  const { cells, workspaceCells, copyPerson } = context;
  if (cells.isOne) return;
  const { workspaceId, urlKey, userId, shard } = claim;
  cells.of(shard);
  // The urlKeys of the installation from before there were several cells.
  if (!(await workspaceCells.listed()).includes(cells.home.shard)) throw new Fault('unavailable');
  await copyPerson(userId, shard);
  await workspaceCells.add([{ workspaceId, urlKey, shard }]);
  const taken = await workspaceCells.findByUrlKey(urlKey);
  if (taken?.workspaceId === workspaceId) return;
  if (taken === null || taken.isNew || (await isThere(context, taken))) throw new Fault('slug_taken');
  await workspaceCells.remove(taken.workspaceId);
  await workspaceCells.add([{ workspaceId, urlKey, shard }]);
  if ((await workspaceCells.findByUrlKey(urlKey))?.workspaceId !== workspaceId) throw new Fault('slug_taken');
}

/** A cell that does not answer has what it claimed. */
async function isThere(
  { directory }: Pick<ClaimContext, 'directory'>,
  { workspaceId, shard }: Pick<Claim, 'workspaceId' | 'shard'>,
): Promise<boolean> {
  const cell = directory.cells.find((one) => one.shard === shard);
  if (cell === undefined) return true;
  const found = await cell.findWorkspaces({ id: workspaceId, limit: 1 }).catch(onFault('unavailable', null));
  return found === null || found.length > 0;
}

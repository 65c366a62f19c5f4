import { Fault, type OperatorMove } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { OperatorContext } from '../context.ts';
import { isGivenUp } from '../domain/move-steps.ts';
import type { StoredMove } from '../store/moves.ts';
import type { Operator } from './disable-person.ts';

/** Begins a move; a replica does it in the background. Keeps operator.move.begins. */
export async function beginMove(
  { cells, directory, workspaces, moves, record }: OperatorContext,
  { workspaceId, to }: { readonly workspaceId: string; readonly to: number },
  operator: Operator,
): Promise<OperatorMove> {
  const source = await directory.cellOf(workspaceId);
  const workspace = await workspaces.find(workspaceId);
  if (source === null || workspace === null) throw new Fault('not_found');
  if (!cells.all.some(({ shard }) => shard === to)) {
    const known = cells.all.map(({ shard }) => shard).join(', ');
    throw new Fault('validation_failed', { message: `body/to must be the number of a cell: ${known}` });
  }
  if (source.shard === to) throw new Fault('conflict', { message: `The workspace is in cell ${to} already.` });
  const { name, urlKey } = workspace;
  const operatorId = operator.actor.id ?? workspaceId;
  const move = { id: randomUUID(), workspaceId, name, urlKey, source: source.shard, target: to, operatorId };
  if (!(await moves.insert(move))) throw new Fault('conflict', { message: 'The workspace is being moved already.' });
  await record.add({ kind: 'workspace-moving', workspaceId, ...operator, details: { cell: String(to) } });
  return readMove({ moves }, move.id);
}

/** Gives a move up, as long as the workspace is where it was. Keeps operator.move.cancel. */
export async function cancelMove(
  { moves, record }: Pick<OperatorContext, 'moves' | 'record'>,
  id: string,
  operator: Operator,
): Promise<OperatorMove> {
  const move = await moves.find(id);
  if (move === null) throw new Fault('not_found');
  if (move.isCancelled || isGivenUp(move.step)) return shownMove(move);
  if (!(await moves.cancel(id)))
    throw new Fault('conflict', { message: `The workspace is in cell ${move.target} already. Move it back.` });
  const { workspaceId, target } = move;
  await record.add({ kind: 'move-cancelled', workspaceId, ...operator, details: { cell: String(target) } });
  return readMove({ moves }, id);
}

export async function readMove({ moves }: Pick<OperatorContext, 'moves'>, id: string): Promise<OperatorMove> {
  const move = await moves.find(id);
  if (move === null) throw new Fault('not_found', { message: 'There is no move with this id.' });
  return shownMove(move);
}

export function shownMove(move: StoredMove): OperatorMove {
  const { id, workspaceId, name, urlKey, source: from, target: to, step, records, problem, endedAt } = move;
  const state = endedAt === null ? 'moving' : isGivenUp(step) ? 'given-up' : 'moved';
  const times = { createdAt: move.createdAt.toISOString(), endedAt: endedAt?.toISOString() ?? null };
  return { id, workspaceId, name, urlKey, from, to, state, step, records, problem, ...times };
}

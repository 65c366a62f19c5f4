import { operatorApi } from '@wts/contracts';
import { beginMove, cancelMove, readMove, shownMove } from '../commands/move-workspace.ts';
import type { OperatorContext } from '../context.ts';
import { operatorOf, type MountOperation } from './operator-guard.ts';
import { cut, pageOf } from './operator-page.ts';

/** Moves of workspaces between cells. */
export function mountOperatorMoves(mountOperation: MountOperation, context: OperatorContext): void {
  mountOperation(operatorApi.moveWorkspace, async (call) => ({
    ok: true,
    move: await beginMove(context, { ...call.params, ...call.body }, operatorOf(call)),
  }));
  mountOperation(operatorApi.listMoves, async ({ query }) => {
    const page = pageOf(query);
    const { items, hasMore } = cut(await context.moves.list(page), page);
    return { ok: true, moves: items.map(shownMove), hasMore };
  });
  mountOperation(operatorApi.readMove, async ({ params }) => ({
    ok: true,
    move: await readMove(context, params.moveId),
  }));
  mountOperation(operatorApi.cancelMove, async (call) => ({
    ok: true,
    move: await cancelMove(context, call.params.moveId, operatorOf(call)),
  }));
}

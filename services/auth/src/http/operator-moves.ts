import { operatorApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { beginMove, cancelMove, readMove, shownMove } from '../commands/move-workspace.ts';
import type { OperatorContext } from '../operator-context.ts';
import { operatorOf, type OperatorOptions } from './operator-guard.ts';
import { cut, pageOf } from './operator-page.ts';

/** Moves of workspaces between cells. */
export function mountOperatorMoves(router: IRouter, context: OperatorContext, options: OperatorOptions): void {
  mount(
    router,
    operatorApi.moveWorkspace,
    async (call) => ({ ok: true, move: await beginMove(context, { ...call.params, ...call.body }, operatorOf(call)) }),
    options,
  );
  mount(
    router,
    operatorApi.listMoves,
    async ({ query }) => {
      const page = pageOf(query);
      const { items, hasMore } = cut(await context.moves.list(page), page);
      return { ok: true, moves: items.map(shownMove), hasMore };
    },
    options,
  );
  mount(
    router,
    operatorApi.readMove,
    async ({ params }) => ({ ok: true, move: await readMove(context, params.moveId) }),
    options,
  );
  mount(
    router,
    operatorApi.cancelMove,
    async (call) => ({ ok: true, move: await cancelMove(context, call.params.moveId, operatorOf(call)) }),
    options,
  );
}

import { syncApi, type BodyOf, type Contract, type ReplyOf } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { Moves } from '../moves/moves.ts';
import type { Copies } from '../queries/copies.ts';

/** POST /internal/moves/*: how auth copies a workspace to another cell. */
export function mountMoves(router: Router, copies: Copies, moves: Moves): void {
  const answer = <C extends Contract>(
    contract: C,
    ask: (body: BodyOf<C>, signal: AbortSignal) => Promise<Omit<ReplyOf<C>, 'ok'>>,
  ): void =>
    mount(router, contract as Contract, async ({ body, signal }) => ({
      ok: true,
      ...(await ask(body as BodyOf<C>, signal)),
    }));
  answer(syncApi.internalReadWorkspacePage, (body, signal) => copies.page(body, signal));
  answer(syncApi.internalReadWorkspaceEntries, (body, signal) => copies.entries(body, signal));
  answer(syncApi.internalReadWorkspaceKeys, (body, signal) => copies.keys(body, signal));
  answer(syncApi.internalDigestWorkspace, (body, signal) => copies.digest(body, signal));
  answer(syncApi.internalPutRecords, (body) => moves.put(body));
  answer(syncApi.internalSetMoving, (body) => moves.setState(body));
}

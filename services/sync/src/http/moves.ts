import { syncApi, type BodyOf, type Contract, type ReplyOf } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { Moves } from '../moves/moves.ts';
import type { Copies } from '../queries/copies.ts';

/** POST /internal/moves/*: how auth copies a workspace to another cell. */
export function mountMoves(router: Router, copies: Copies, moves: Moves): void {
  const mountOperation = <C extends Contract>(
    contract: C,
    ask: (body: BodyOf<C>, signal: AbortSignal) => Promise<Omit<ReplyOf<C>, 'ok'>>,
  ): void =>
    mount(router, contract as Contract, async ({ body, signal }) => ({
      ok: true,
      ...(await ask(body as BodyOf<C>, signal)),
    }));
  mountOperation(syncApi.internalReadWorkspacePage, (body, signal) => copies.page(body, signal));
  mountOperation(syncApi.internalReadWorkspaceEntries, (body, signal) => copies.entries(body, signal));
  mountOperation(syncApi.internalReadWorkspaceKeys, (body, signal) => copies.keys(body, signal));
  mountOperation(syncApi.internalDigestWorkspace, (body, signal) => copies.digest(body, signal));
  mountOperation(syncApi.internalPutRecords, (body) => moves.put(body));
  mountOperation(syncApi.internalSetMoving, (body) => moves.setState(body));
}

import { syncApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { Moves } from '../moves/moves.ts';
import type { Copies } from '../queries/copies.ts';

/** POST /internal/moves/*: how auth copies a workspace to another cell. */
export function mountMoves(router: Router, copies: Copies, moves: Moves): void {
  mount(router, syncApi.internalReadWorkspacePage, async ({ body, signal }) => ({
    ok: true,
    ...(await copies.page(body, signal)),
  }));
  mount(router, syncApi.internalReadWorkspaceEntries, async ({ body, signal }) => ({
    ok: true,
    ...(await copies.entries(body, signal)),
  }));
  mount(router, syncApi.internalReadWorkspaceKeys, async ({ body, signal }) => ({
    ok: true,
    ...(await copies.keys(body, signal)),
  }));
  mount(router, syncApi.internalDigestWorkspace, async ({ body, signal }) => ({
    ok: true,
    ...(await copies.digest(body, signal)),
  }));
  mount(router, syncApi.internalPutRecords, async ({ body }) => ({ ok: true, ...(await moves.put(body)) }));
  mount(router, syncApi.internalSetMoving, async ({ body }) => ({ ok: true, ...(await moves.setState(body)) }));
}

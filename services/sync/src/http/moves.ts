import { syncApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { Router } from 'express';
import type { Moves } from '../moves/moves.ts';

/** Of POST /internal/moves/* what auth changes here; `queries/copies.ts` has what it reads. */
export function mountMoves(router: Router, moves: Moves): void {
  mount(router, syncApi.internalPutRecords, async ({ body }) => ({ ok: true, ...(await moves.put(body)) }));
  mount(router, syncApi.internalSetMoving, async ({ body }) => ({ ok: true, ...(await moves.setState(body)) }));
}

import { cellApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { claimWorkspace } from '../commands/claim-workspace.ts';
import type { Context } from '../context.ts';
import { readCells } from '../queries/read-cells.ts';

/** What the services of a cell ask the directory. */
export function mountCells(router: IRouter, context: Context): void {
  mount(router, cellApi.internalClaimWorkspace, async ({ body }) => {
    await claimWorkspace(context, body);
    return { ok: true };
  });
  mount(router, cellApi.internalReadCells, async ({ body }) => {
    // Who asks a cell for their workspaces is known there from then on.
    if (!context.cells.isOne) await context.copyPerson(body.userId, body.shard);
    return { ok: true, ...(await readCells(context, body)) };
  });
}

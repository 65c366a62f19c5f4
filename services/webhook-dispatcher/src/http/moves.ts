import { webhookApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { endEndpoints, putEndpoints, takeEndpoints } from '../commands/move-endpoints.ts';
import type { Context } from '../context.ts';

/** How auth moves the endpoints of a workspace to another cell. */
export function mountMoves(router: IRouter, context: Context): void {
  mount(router, webhookApi.internalTakeEndpoints, async ({ body }) => ({
    ok: true,
    ...(await takeEndpoints(context, body)),
  }));
  mount(router, webhookApi.internalPutEndpoints, async ({ body }) => {
    await putEndpoints(context, body);
    return { ok: true };
  });
  mount(router, webhookApi.internalEndEndpoints, async ({ body }) => {
    await endEndpoints(context, body);
    return { ok: true };
  });
}

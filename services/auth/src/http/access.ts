import { accessApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { endApp, listAccess, listApps, listSecurityEvents } from '../commands/manage-access.ts';
import { visitorOf } from './sender.ts';

/** Who reaches a workspace, for its owners and admins. */
export function mountAccess(router: IRouter, context: Parameters<typeof listAccess>[0]): void {
  mount(router, accessApi.listAccess, async ({ principal, params: { workspaceId }, query }) => ({
    ok: true,
    ...(await listAccess(context, principal, workspaceId, query)),
  }));
  mount(router, accessApi.listSecurityEvents, async ({ principal, params: { workspaceId }, query }) => ({
    ok: true,
    ...(await listSecurityEvents(context, principal, workspaceId, query)),
  }));
  mount(router, accessApi.listApps, async ({ principal, params: { workspaceId }, query }) => ({
    ok: true,
    ...(await listApps(context, principal, workspaceId, query)),
  }));
  mount(router, accessApi.endApp, async (call) => {
    await endApp(context, call.principal, call.params, visitorOf(call));
    return { ok: true };
  });
}

import { accessApi, workspaceSecurityApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { changeWorkspaceSecurity } from '../commands/change-workspace-security.ts';
import { endApp, listAccess, listApps, listSecurityEvents } from '../commands/manage-access.ts';
import type { Context } from '../context.ts';
import { visitorOf } from './sender.ts';

/** Who reaches a workspace, and what it requires of its members, for its owners and admins. */
export function mountAccess(router: IRouter, context: Context & Parameters<typeof listAccess>[0]): void {
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
  mount(router, workspaceSecurityApi.getWorkspaceSecurity, async ({ principal, params: { workspaceId } }) => {
    await context.roles.require(principal, workspaceId);
    return { ok: true, security: { requireSecondFactor: await context.policies.requiresSecondFactor(workspaceId) } };
  });
  mount(router, workspaceSecurityApi.updateWorkspaceSecurity, async (call) => {
    const { requireSecondFactor } = call.body;
    const change = { workspaceId: call.params.workspaceId, requiresSecondFactor: requireSecondFactor };
    await changeWorkspaceSecurity(context, call.principal, change, visitorOf(call));
    return { ok: true, security: { requireSecondFactor } };
  });
}

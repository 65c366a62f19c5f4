import { workspaceSecurityApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { changeWorkspaceSecurity } from '../commands/change-workspace-security.ts';
import type { Context } from '../context.ts';
import { visitorOf } from './sender.ts';

/** What a workspace requires of its members. */
export function mountWorkspaceSecurity(router: IRouter, context: Context): void {
  mount(router, workspaceSecurityApi.getWorkspaceSecurity, async ({ principal, params: { workspaceId } }) => {
    await context.roles.require(principal, workspaceId);
    return { ok: true, security: { requireSecondFactor: await context.policies.requiresSecondFactor(workspaceId) } };
  });
  mount(router, workspaceSecurityApi.updateWorkspaceSecurity, async (call) => {
    const { principal, params, body } = call;
    const { requireSecondFactor } = body;
    const change = { workspaceId: params.workspaceId, requiresSecondFactor: requireSecondFactor };
    await changeWorkspaceSecurity(context, principal, change, visitorOf(call));
    return { ok: true, security: { requireSecondFactor } };
  });
}

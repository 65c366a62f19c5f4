import { invitationMoveApi, memberApi, workspaceApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { createWorkspace } from '../commands/create-workspace.ts';
import { confirmJoined, joinWorkspace } from '../commands/join-workspace.ts';
import { createInvitation, deleteInvitation } from '../commands/manage-invitations.ts';
import { changeWorkspace } from '../commands/change-workspace.ts';
import { removeMember } from '../commands/remove-member.ts';
import { listInvitations } from '../queries/list-invitations.ts';
import { readInvitation } from '../commands/read-invitation.ts';
import { findWorkspace, listMembers, listWorkspaces } from '../queries/read-workspaces.ts';
import type { Context } from '../context.ts';

/** Workspaces, their members and their invitations. */
export function mountWorkspaces(router: IRouter, context: Context): void {
  mountWorkspaceRoutes(router, context);
  mountMemberRoutes(router, context);
  mountInvitationRoutes(router, context);
}

function mountWorkspaceRoutes(router: IRouter, context: Context): void {
  const { workspaces, idempotency } = context;
  mount(router, workspaceApi.listWorkspaces, async ({ principal }) => ({
    ok: true,
    ...(await listWorkspaces(context, principal)),
  }));
  mount(router, workspaceApi.getWorkspaceBySlug, async ({ principal, params }) => ({
    ok: true,
    workspace: await findWorkspace(workspaces, principal, params.slug),
  }));
  mount(
    router,
    workspaceApi.createWorkspace,
    async ({ principal, body, effectId }) => ({
      ok: true,
      workspace: await createWorkspace(context, principal, body, { effectId }),
    }),
    { idempotency },
  );
  mount(router, workspaceApi.deleteWorkspace, async ({ principal, params, body }) => ({
    ok: true,
    workspace: await changeWorkspace(context, principal, params.workspaceId, { action: 'ARCHIVE', payload: body }),
  }));
  mount(router, workspaceApi.restoreWorkspace, async ({ principal, params }) => ({
    ok: true,
    workspace: await changeWorkspace(context, principal, params.workspaceId, { action: 'UNARCHIVE', payload: {} }),
  }));
}

function mountMemberRoutes(router: IRouter, context: Context): void {
  const { idempotency } = context;
  mount(
    router,
    memberApi.joinWorkspace,
    async ({ principal, body }) => {
      const workspace = await joinWorkspace(context, principal, body);
      return { ok: true, workspace, role: workspace.role };
    },
    { idempotency, confirmReplay: ({ principal }, { workspace }) => confirmJoined(context, principal, workspace.id) },
  );
  mount(router, memberApi.listMembers, async ({ principal, params }) => ({
    ok: true,
    members: await listMembers(context, principal, params.workspaceId),
  }));
  mount(router, memberApi.removeMember, async ({ principal, params }) => ({
    ok: true,
    openInvitations: await removeMember(context, principal, params),
  }));
  mount(router, memberApi.internalJoinWorkspace, async ({ principal, body }) => ({
    ok: true,
    role: (await joinWorkspace(context, principal, body)).role,
  }));
}

function mountInvitationRoutes(router: IRouter, context: Context): void {
  const { idempotency } = context;
  mount(router, memberApi.listInvitations, async ({ principal, params }) => ({
    ok: true,
    invitations: await listInvitations(context, principal, params.workspaceId),
  }));
  mount(
    router,
    memberApi.createInvitation,
    async ({ principal, params, body, effectId }) => ({
      ok: true,
      invitation: await createInvitation(context, principal, params.workspaceId, { ...body, effectId }),
    }),
    { idempotency },
  );
  mount(router, memberApi.internalReadInvitation, async ({ principal, body }) => ({
    ok: true,
    invitation: await readInvitation(context, principal, body.code),
  }));
  mount(router, invitationMoveApi.internalReadInvitations, async ({ body: { workspaceId, ...page } }) => ({
    ok: true,
    invitations: await context.invitations.page(workspaceId, page),
  }));
  mount(router, invitationMoveApi.internalPutInvitations, async ({ body }) => {
    await context.invitations.put(body.workspaceId, body.invitations, body.replace);
    return { ok: true };
  });
  mount(router, memberApi.deleteInvitation, async ({ principal, params }) => {
    await deleteInvitation(context, principal, params);
    return { ok: true };
  });
}

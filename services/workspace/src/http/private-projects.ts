import { privateProjectApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { addPrivateProjectMember, removePrivateProjectMember } from '../commands/manage-private-project.ts';
import type { Context } from '../context.ts';
import { listPrivateProjectMembers, listPrivateProjects } from '../queries/read-private-projects.ts';

/** Private projects, as owners and admins of the workspace see them. */
export function mountPrivateProjects(router: IRouter, context: Context): void {
  mount(router, privateProjectApi.listPrivateProjects, async ({ principal, params, query }) => ({
    ok: true,
    ...(await listPrivateProjects(context, principal, params.workspaceId, query)),
  }));
  mount(router, privateProjectApi.listPrivateProjectMembers, async ({ principal, params, query }) => ({
    ok: true,
    ...(await listPrivateProjectMembers(context, principal, params, query)),
  }));
  mount(router, privateProjectApi.addPrivateProjectMember, async ({ principal, params, body }) => ({
    ok: true,
    member: await addPrivateProjectMember(context, principal, { ...params, ...body }),
  }));
  mount(router, privateProjectApi.removePrivateProjectMember, async ({ principal, params }) => {
    await removePrivateProjectMember(context, principal, params);
    return { ok: true };
  });
}

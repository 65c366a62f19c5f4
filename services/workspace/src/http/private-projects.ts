import { privateProjectApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { addPrivateProjectMember, removePrivateProjectMember } from '../commands/manage-private-project.ts';
import type { Doors } from '../doors.ts';
import { listPrivateProjectMembers, listPrivateProjects } from '../queries/read-private-projects.ts';

/** Private projects as those see them who manage the workspace. */
export function mountPrivateProjects(router: IRouter, doors: Doors): void {
  mount(router, privateProjectApi.listPrivateProjects, async ({ principal, params, query }) => ({
    ok: true,
    ...(await listPrivateProjects(doors, principal, params.workspaceId, query)),
  }));
  mount(router, privateProjectApi.listPrivateProjectMembers, async ({ principal, params, query }) => ({
    ok: true,
    ...(await listPrivateProjectMembers(doors, principal, params, query)),
  }));
  mount(router, privateProjectApi.addPrivateProjectMember, async (call) => ({
    ok: true,
    member: await addPrivateProjectMember(doors, call.principal, { ...call.params, ...call.body }, call),
  }));
  mount(router, privateProjectApi.removePrivateProjectMember, async (call) => {
    await removePrivateProjectMember(doors, call.principal, call.params, call);
    return { ok: true };
  });
}

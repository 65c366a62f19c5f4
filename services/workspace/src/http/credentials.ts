import { workspaceApi } from '@wts/contracts';
import { mount } from '@wts/service-kit';
import type { IRouter } from 'express';
import { resolvePerson } from '../commands/resolve-person.ts';
import type { Doors } from '../doors.ts';
import { resolveApiKey } from '../queries/resolve-api-key.ts';

/** What other services ask while they find out who calls. */
export function mountCredentials(router: IRouter, doors: Doors): void {
  mount(router, workspaceApi.internalResolveApiKey, async ({ body }) => {
    const principal = await resolveApiKey(doors.keys, body.tokenHash);
    doors.metrics.keyResolved(principal !== null);
    if (principal !== null) doors.keyUse.note(principal.credential.id);
    return { ok: true, principal };
  });
  mount(router, workspaceApi.internalResolvePerson, async (call) => ({
    ok: true,
    userId: await resolvePerson(doors, call.body, call),
  }));
}

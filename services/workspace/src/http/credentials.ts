import { apiKeyApi, workspaceApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { resolvePerson } from '../commands/resolve-person.ts';
import type { Doors } from '../doors.ts';
import { resolveApiKey } from '../queries/resolve-api-key.ts';

/** Before every key that was revoked at the same moment. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** What other services ask while they find out who calls. */
export function mountCredentials(router: IRouter, doors: Doors): void {
  mount(router, workspaceApi.internalResolveApiKey, async ({ body }) => {
    const principal = await resolveApiKey(doors.keys, body.tokenHash);
    doors.metrics.keyResolved(principal !== null);
    if (principal !== null) doors.keyUse.note(principal.credential.id);
    return { ok: true, principal };
  });
  mount(router, apiKeyApi.internalListRevokedKeys, async ({ body: { since, afterId = FIRST_ID } }) => {
    const after = since === undefined ? null : { since, id: afterId };
    return { ok: true, ...(await doors.keys.listRevoked(after, apiKeyApi.REVOKED_KEYS_PAGE)) };
  });
  mount(router, workspaceApi.internalResolvePerson, async (call) => ({
    ok: true,
    userId: await resolvePerson(doors, call.body, call),
  }));
}

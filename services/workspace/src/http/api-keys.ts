import { apiKeyApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { createApiKey, listApiKeys, revokeApiKey } from '../commands/manage-api-keys.ts';
import type { Doors } from '../doors.ts';

/** Personal API keys: those of the caller, and those limited to a workspace the caller owns. */
export function mountApiKeys(router: IRouter, doors: Doors): void {
  mount(router, apiKeyApi.listApiKeys, async ({ principal, query }) => ({
    ok: true,
    keys: await listApiKeys(doors, principal, query.workspaceId),
  }));
  mount(
    router,
    apiKeyApi.createApiKey,
    async (call) => ({
      ok: true,
      key: await createApiKey(doors, call.principal, { ...call.body, permissions: 'full-access' }, call),
    }),
    { idempotency: doors.idempotency },
  );
  mount(router, apiKeyApi.revokeApiKey, async ({ principal, params, query }) => {
    await revokeApiKey(doors, principal, params.keyId, query.includeMade === 'true');
    return { ok: true };
  });
  mount(router, apiKeyApi.internalCreateApiKey, async (call) => ({
    ok: true,
    key: await createApiKey(doors, call.principal, call.body, call),
  }));
}

import { apiKeyApi } from '@wts/contracts';
import { mount } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { createApiKey, listApiKeys, revokeApiKey } from '../commands/manage-api-keys.ts';
import type { Context } from '../context.ts';

/** Personal API keys: those of the caller, and those limited to a workspace the caller owns. */
export function mountApiKeys(router: IRouter, context: Context): void {
  mount(router, apiKeyApi.listApiKeys, async ({ principal, query }) => ({
    ok: true,
    keys: await listApiKeys(context, principal, query.workspaceId),
  }));
  mount(
    router,
    apiKeyApi.createApiKey,
    async (call) => ({
      ok: true,
      key: await createApiKey(context, call.principal, { ...call.body, permissions: 'full-access' }, call),
    }),
    { idempotency: context.idempotency },
  );
  mount(router, apiKeyApi.revokeApiKey, async ({ principal, params, query }) => {
    await revokeApiKey(context, principal, params.keyId, query.includeMade === 'true');
    return { ok: true };
  });
  mount(
    router,
    apiKeyApi.internalCreateApiKey,
    async (call) => ({ ok: true, key: await createApiKey(context, call.principal, call.body, call) }),
    { idempotency: context.idempotency },
  );
}

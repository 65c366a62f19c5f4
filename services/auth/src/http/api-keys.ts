import { apiKeyApi } from '@wts/contracts';
import { mount, type Call } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { createApiKey, listApiKeys, revokeApiKey } from '../commands/manage-api-keys.ts';
import type { Context } from '../context.ts';
import { visitorOf } from './sender.ts';

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
      key: await createApiKey(context, call.principal, { ...call.body, permissions: 'full-access' }, sourceOf(call)),
    }),
    { idempotency: context.idempotency },
  );
  mount(router, apiKeyApi.revokeApiKey, async (call) => {
    const key = { keyId: call.params.keyId, includeMade: call.query.includeMade === 'true' };
    await revokeApiKey(context, call.principal, key, visitorOf(call));
    return { ok: true };
  });
  mount(
    router,
    apiKeyApi.internalCreateApiKey,
    async (call) => ({ ok: true, key: await createApiKey(context, call.principal, call.body, sourceOf(call)) }),
    { idempotency: context.idempotency },
  );
}

function sourceOf(call: Call): Parameters<typeof createApiKey>[3] {
  return { effectId: call.effectId, visitor: visitorOf(call) };
}

import { webhookApi } from '@wts/contracts';
import type { IRouter } from 'express';
import { createEndpoint, deleteEndpoint, rotateSecret, updateEndpoint } from '../commands/manage-endpoints.ts';
import { requireEndpoint } from '../queries/require-endpoint.ts';
import type { Context } from '../context.ts';
import type { ShareByPerson } from './share-by-person.ts';

/** Webhook endpoints and their secrets. Keeps webhooks.event-types.list, webhooks.list.by-workspace, webhooks.read.answer. */
export function mountEndpoints(router: IRouter, context: Context, { mount }: ShareByPerson): void {
  const keyed = { idempotency: context.idempotency };

  // Before the path with an id, because a router takes the first one that matches.
  mount(router, webhookApi.listEventTypes, async () => ({ ok: true, eventTypes: [...webhookApi.EVENT_TYPES] }));
  mount(router, webhookApi.listEndpoints, async ({ principal, query }) => {
    await context.roles.requirePermission(principal, query.workspaceId, 'webhooks.manage');
    return { ok: true, endpoints: await context.endpoints.list(query.workspaceId) };
  });
  mount(
    router,
    webhookApi.createEndpoint,
    async (call) => ({ ok: true, ...(await createEndpoint(context, call.principal, call.body, call)) }),
    keyed,
  );
  mount(router, webhookApi.getEndpoint, async ({ principal, params }) => ({
    ok: true,
    endpoint: await requireEndpoint(context, principal, params.id),
  }));
  mount(router, webhookApi.updateEndpoint, async ({ principal, params, body }) => ({
    ok: true,
    endpoint: await updateEndpoint(context, principal, params.id, body),
  }));
  mount(router, webhookApi.deleteEndpoint, async ({ principal, params }) => {
    await deleteEndpoint(context, principal, params.id);
    return { ok: true };
  });
  mount(
    router,
    webhookApi.rotateSecret,
    async (call) => ({ ok: true, ...(await rotateSecret(context, call.principal, call.params.id, call)) }),
    keyed,
  );
}

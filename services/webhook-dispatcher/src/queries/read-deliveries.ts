import type { Principal, QueryOf, WebhookAttempt, WebhookDelivery, webhookApi } from '@wts/contracts';
import { Fault, LIMITS } from '@wts/contracts';
import { requireEndpoint } from './require-endpoint.ts';
import type { Context } from '../context.ts';
import { timeOf } from '../domain/time.ts';
import type { ListedDelivery } from '../store/deliveries.ts';

/** Keeps webhooks.deliveries.page, webhooks.deliveries.fields, limits.webhook.deliveries-page. */
export async function listDeliveries(
  context: Context,
  principal: Principal,
  id: string,
  { limit = LIMITS.deliveriesPageDefault, before }: QueryOf<typeof webhookApi.listDeliveries>,
): Promise<ListedDelivery[]> {
  const endpoint = await requireEndpoint(context, principal, id);
  return context.deliveries.list(endpoint.id, {
    limit,
    before: before === undefined ? null : timeOf('before', before),
  });
}

export async function listAttempts(
  context: Context,
  principal: Principal,
  { id, deliveryId }: { readonly id: string; readonly deliveryId: string },
): Promise<WebhookAttempt[]> {
  const endpoint = await requireEndpoint(context, principal, id);
  const delivery = await requireDelivery(context, endpoint.id, deliveryId);
  return context.deliveries.attempts(delivery.id, LIMITS.webhookAttemptsListMax);
}

/** A delivery of another endpoint is not found. */
export async function requireDelivery(
  { deliveries }: Pick<Context, 'deliveries'>,
  endpointId: string,
  deliveryId: string,
): Promise<WebhookDelivery> {
  const delivery = await deliveries.find(endpointId, deliveryId);
  if (delivery === null) throw new Fault('not_found');
  return delivery;
}

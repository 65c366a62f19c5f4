import { randomUUID } from 'node:crypto';
import { Fault, type Principal, type WebhookDelivery } from '@wts/contracts';
import type { Context } from '../context.ts';
import { testEvent } from '../domain/event.ts';
import { timeOf } from '../domain/time.ts';
import type { TestResult } from '../store/enqueue.ts';
import { requireDelivery } from '../queries/read-deliveries.ts';
import { endpointDisabled, requireEnabledEndpoint } from '../queries/require-endpoint.ts';
import { MANAGEMENT } from '../limits.ts';

const TESTS_RETRY_SECONDS = 5;

/** Keeps webhooks.retry.queued, webhooks.retry.not-found. */
export async function retryDelivery(
  context: Context,
  principal: Principal,
  { id, deliveryId }: { readonly id: string; readonly deliveryId: string },
): Promise<WebhookDelivery> {
  const endpoint = await requireEnabledEndpoint(context, principal, id);
  const delivery = await requireDelivery(context, endpoint.id, deliveryId);
  await context.deliveries.retry(endpoint.id, delivery.id);
  context.announce([endpoint.id]);
  return requireDelivery(context, endpoint.id, delivery.id);
}

/** Returns how many deliveries get one more attempt. */
export async function replayDeliveries(
  context: Context,
  principal: Principal,
  id: string,
  since: string,
): Promise<number> {
  const endpoint = await requireEnabledEndpoint(context, principal, id);
  const count = await context.deliveries.replay(endpoint.id, timeOf('since', since), MANAGEMENT.replayMax);
  context.announce([endpoint.id]);
  return count;
}

/** Keeps webhooks.test.queued. */
export async function sendTest(context: Context, principal: Principal, id: string): Promise<WebhookDelivery> {
  const endpoint = await requireEnabledEndpoint(context, principal, id);
  const event = testEvent(randomUUID(), endpoint.workspaceId, new Date().toISOString(), endpoint);
  const result = await context.enqueueTest(endpoint.id, event);
  if (result.kind !== 'queued') throw faultOf(result.kind);
  context.announce([endpoint.id]);
  return requireDelivery(context, endpoint.id, result.deliveryId);
}

/** The endpoint may have changed since it was read. */
function faultOf(kind: Exclude<TestResult['kind'], 'queued'>): Fault {
  if (kind === 'not_found') return new Fault('not_found');
  if (kind === 'disabled') return endpointDisabled();
  const message = `${MANAGEMENT.testsMax} test events of this endpoint are waiting to be sent already.`;
  return new Fault('rate_limited', { message, retryAfterSeconds: TESTS_RETRY_SECONDS });
}

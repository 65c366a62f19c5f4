import { webhookApi } from '@wts/contracts';
import { mountStream } from '@wts/service-kit/routes';
import type { IRouter } from 'express';
import { replayDeliveries, retryDelivery, sendTest } from '../commands/manage-deliveries.ts';
import type { Context } from '../context.ts';
import { listAttempts, listDeliveries } from '../queries/read-deliveries.ts';
import type { ListedDelivery } from '../store/deliveries.ts';
import { sendDeliveries } from './send-deliveries.ts';
import type { ShareByPerson } from './share-by-person.ts';

/** Deliveries of an endpoint, their attempts, and the operations that request more attempts. */
export function mountDeliveries(router: IRouter, context: Context, { run, mount }: ShareByPerson): void {
  mountStream(router, webhookApi.listDeliveries, async ({ principal, params, query, res, signal }) => {
    const { userId } = principal;
    const page = await run(userId, () => listDeliveries(context, principal, params.id, query));
    // In pieces, because a client that reads slowly would otherwise delay its person's other requests.
    const bodies = (some: readonly ListedDelivery[]) => run(userId, () => context.deliveries.bodies(some));
    await sendDeliveries(res, page, { bodies, signal });
  });
  mount(router, webhookApi.listAttempts, async ({ principal, params }) => ({
    ok: true,
    attempts: await listAttempts(context, principal, params),
  }));
  mount(router, webhookApi.retryDelivery, async ({ principal, params }) => ({
    ok: true,
    delivery: await retryDelivery(context, principal, params),
  }));
  mount(router, webhookApi.replayDeliveries, async ({ principal, params, body }) => ({
    ok: true,
    count: await replayDeliveries(context, principal, params.id, body.since),
  }));
  mount(
    router,
    webhookApi.testEndpoint,
    async ({ principal, params }) => ({ ok: true, delivery: await sendTest(context, principal, params.id) }),
    { idempotency: context.idempotency },
  );
}

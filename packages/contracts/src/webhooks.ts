import { contract, type BodyOf } from './contract.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { LIMITS } from './limits.ts';
import { count, done, objectOf, okBody, timestamp, uuid } from './parts.ts';
import { attemptSchema, deliveryExample, deliverySchema } from './webhooks/delivery.ts';
import {
  description,
  endpointExample,
  endpointSchema,
  eventTypes,
  secret,
  SECRET_EXAMPLE,
  url,
} from './webhooks/endpoint.ts';
import { EVENT_TYPES } from './webhooks/event.ts';

export { EVENT_TYPES, TEST_EVENT_TYPE, type EventType, type WebhookEvent } from './webhooks/event.ts';
export type { WebhookEndpoint } from './webhooks/endpoint.ts';
export * from './webhooks/moves.ts';
export { ATTEMPT_ERRORS, type WebhookAttempt, type WebhookDelivery } from './webhooks/delivery.ts';

/** With nanoseconds and an offset. */
const TIME_LENGTH_MAX = 40;
const id = { ...uuid, description: 'The endpoint.' } as const;
const endpointParams = objectOf({ id });
const deliveryParams = objectOf({ id, deliveryId: { ...uuid, description: 'The delivery.' } });

const owned = { tag: 'Webhooks', scope: 'admin' } as const;
const endpointReply = (text: string) =>
  ({
    status: 200,
    description: text,
    schema: okBody({ endpoint: endpointSchema }),
    example: { ok: true, endpoint: endpointExample },
  }) as const;
const queuedReply = (text: string) =>
  ({
    status: 202,
    description: text,
    schema: okBody({ delivery: deliverySchema }),
    example: {
      ok: true,
      delivery: { ...deliveryExample, status: 'pending', completedAt: null, nextAttemptAt: '2026-11-21T09:45:00.000Z' },
    },
  }) as const;

export const listEndpoints = contract({
  ...owned,
  id: 'listWebhookEndpoints',
  method: 'GET',
  path: '/api/webhooks',
  summary: 'List the webhook endpoints of a workspace',
  description: 'For owners and admins of the workspace.',
  query: {
    type: 'object',
    required: ['workspaceId'],
    properties: { workspaceId: { ...uuid, description: 'Of which workspace.' } },
  },
  reply: {
    status: 200,
    description: 'The endpoints.',
    schema: okBody({ endpoints: { type: 'array', items: endpointSchema, description: 'The oldest first.' } }),
    example: { ok: true, endpoints: [endpointExample] },
  },
  errors: ['forbidden'],
});

export const createEndpoint = contract({
  ...owned,
  id: 'createWebhookEndpoint',
  method: 'POST',
  idempotencyKey: true,
  path: '/api/webhooks',
  summary: 'Create a webhook endpoint',
  description: `It receives the events committed from now on. The secret is shown only here. A workspace has at most ${LIMITS.webhookEndpointsMax} endpoints.`,
  body: objectOf(
    {
      url,
      workspaceId: { ...uuid, description: 'The workspace whose events it receives.' },
    },
    {
      description,
      eventTypes,
    },
  ),
  bodyExample: {
    url: endpointExample.url,
    workspaceId: EXAMPLE_IDS.workspace,
    description: endpointExample.description,
    eventTypes: endpointExample.eventTypes,
  },
  reply: {
    status: 201,
    description: 'The endpoint with its secret.',
    schema: okBody({ endpoint: endpointSchema, secret }),
    example: { ok: true, endpoint: endpointExample, secret: SECRET_EXAMPLE },
  },
  errors: ['forbidden', 'endpoint_limit_reached', 'webhooks_not_configured', 'workspace_archived'],
});

export type NewEndpoint = BodyOf<typeof createEndpoint>;

export const listEventTypes = contract({
  id: 'listWebhookEventTypes',
  method: 'GET',
  path: '/api/webhooks/event-types',
  summary: 'List the event types',
  tag: 'Webhooks',
  scope: 'none',
  reply: {
    status: 200,
    description: 'What an endpoint can subscribe to.',
    schema: okBody({
      eventTypes: { type: 'array', items: { type: 'string' }, description: 'Every type except `endpoint.test`.' },
    }),
    example: { ok: true, eventTypes: EVENT_TYPES },
  },
});

export const getEndpoint = contract({
  ...owned,
  id: 'getWebhookEndpoint',
  method: 'GET',
  path: '/api/webhooks/{id}',
  summary: 'Read a webhook endpoint',
  params: endpointParams,
  reply: endpointReply('The endpoint.'),
  errors: ['forbidden'],
});

/** Keeps webhooks.update.no-extra. */
export const updateEndpoint = contract({
  ...owned,
  id: 'updateWebhookEndpoint',
  method: 'PATCH',
  path: '/api/webhooks/{id}',
  summary: 'Change a webhook endpoint',
  description:
    'Pending deliveries go to the new `url`. `enabled: true` clears the failure count and resumes pending deliveries; `enabled: false` keeps them.',
  params: endpointParams,
  body: {
    type: 'object',
    additionalProperties: false,
    properties: {
      url,
      description,
      eventTypes,
      enabled: { type: 'boolean', description: 'True enables it again and clears the failure count.' },
    },
  },
  bodyExample: { enabled: true },
  reply: endpointReply('The endpoint as it is now.'),
  errors: ['forbidden', 'workspace_archived'],
});

export type EndpointChange = BodyOf<typeof updateEndpoint>;

export const deleteEndpoint = contract({
  ...owned,
  id: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: '/api/webhooks/{id}',
  summary: 'Delete a webhook endpoint',
  description: 'Its delivery history is deleted too. An attempt that has begun may still arrive.',
  params: endpointParams,
  reply: done('It is deleted.'),
  errors: ['forbidden'],
});

export const listDeliveries = contract({
  ...owned,
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/api/webhooks/{id}/deliveries',
  summary: 'List the deliveries of an endpoint',
  description: `The newest first. Deliveries are kept for ${LIMITS.deliveryDays} days.`,
  params: endpointParams,
  query: {
    type: 'object',
    properties: {
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: LIMITS.deliveriesPageMax,
        default: LIMITS.deliveriesPageDefault,
        description: 'How many.',
      },
      before: {
        ...timestamp,
        maxLength: TIME_LENGTH_MAX,
        description: 'Only those created before: the `createdAt` of the last delivery of the page before.',
      },
    },
  },
  reply: {
    status: 200,
    description: 'One page of the deliveries.',
    schema: okBody({ deliveries: { type: 'array', items: deliverySchema, description: 'The newest first.' } }),
    example: { ok: true, deliveries: [deliveryExample] },
  },
  errors: ['forbidden'],
});

export const listAttempts = contract({
  ...owned,
  id: 'listWebhookAttempts',
  method: 'GET',
  path: '/api/webhooks/{id}/deliveries/{deliveryId}/attempts',
  summary: 'List the attempts of a delivery',
  params: deliveryParams,
  reply: {
    status: 200,
    description: `Its attempts, at most the last ${LIMITS.webhookAttemptsListMax}.`,
    schema: okBody({ attempts: { type: 'array', items: attemptSchema, description: 'The newest first.' } }),
    example: {
      ok: true,
      attempts: [
        {
          number: 1,
          startedAt: '2026-11-21T09:30:00.020Z',
          durationMs: 100,
          statusCode: 204,
          responseSnippet: '',
          error: null,
        },
      ],
    },
  },
  errors: ['forbidden'],
});

export const retryDelivery = contract({
  ...owned,
  id: 'retryWebhookDelivery',
  method: 'POST',
  path: '/api/webhooks/{id}/deliveries/{deliveryId}/retry',
  summary: 'Attempt a delivery once more',
  description:
    'Now, whatever its status. If that attempt fails, the schedule of a pending delivery continues, and any other delivery is `failed`. While the endpoint is disabled this is 409.',
  params: deliveryParams,
  reply: queuedReply('One more attempt is queued.'),
  errors: ['forbidden', 'conflict', 'workspace_archived'],
});

export const replayDeliveries = contract({
  ...owned,
  id: 'replayWebhookDeliveries',
  method: 'POST',
  path: '/api/webhooks/{id}/replay',
  summary: 'Attempt failed deliveries once more',
  description:
    'Each delivery that failed for good and was created since then gets one more attempt, a few at a time. Those that are `pending` keep their schedule and are not counted.',
  params: endpointParams,
  body: objectOf({
    since: { ...timestamp, maxLength: TIME_LENGTH_MAX, description: 'Deliveries created at or after this time.' },
  }),
  bodyExample: { since: '2026-11-21T00:00:00.000Z' },
  reply: {
    status: 202,
    description: 'The attempts are queued.',
    schema: okBody({ count: { ...count, description: 'How many deliveries.' } }),
    example: { ok: true, count: 12 },
  },
  errors: ['forbidden', 'conflict', 'workspace_archived'],
});

export const rotateSecret = contract({
  ...owned,
  id: 'rotateWebhookSecret',
  method: 'POST',
  idempotencyKey: true,
  path: '/api/webhooks/{id}/rotate-secret',
  summary: 'Rotate the signing secret',
  description: `The new secret is shown only here. For 24 hours each delivery is signed with the secret before as well. At most ${LIMITS.webhookSecretsMax} secrets are in force at a time; one more is 409.`,
  params: endpointParams,
  reply: {
    status: 200,
    description: 'The endpoint and its new secret.',
    schema: okBody({ endpoint: endpointSchema, secret }),
    example: { ok: true, endpoint: endpointExample, secret: SECRET_EXAMPLE },
  },
  errors: ['forbidden', 'conflict', 'webhooks_not_configured', 'workspace_archived'],
});

export const testEndpoint = contract({
  ...owned,
  id: 'testWebhookEndpoint',
  method: 'POST',
  idempotencyKey: true,
  path: '/api/webhooks/{id}/test',
  summary: 'Send a test event',
  description:
    'Queues an `endpoint.test` event behind the events that wait already, signed like them. While the endpoint is disabled this is 409.',
  params: endpointParams,
  reply: queuedReply('The test event is queued.'),
  errors: ['forbidden', 'conflict', 'workspace_archived'],
});

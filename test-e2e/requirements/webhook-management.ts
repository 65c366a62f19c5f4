import type { Rows } from './rule.ts';

/** Webhook endpoints as a REST resource: sections 2, 3 and 4.3 of the specification. */
// prettier-ignore
export const webhookManagement: Rows = [
  ['webhooks.endpoint.fields', 'An endpoint has `id`, `workspaceId`, `url`, `description`, `eventTypes`, `enabled`, `consecutiveFailures`, `disabledAt`, `disabledReason`, `createdAt` and `updatedAt`.', 'packages/contracts/src/webhooks/endpoint.ts', 'Specification 2'],
  ['webhooks.endpoint.no-secret', 'The signing secret is not a field of the record; it is answered once at creation and at rotation.', 'packages/contracts/src/webhooks/endpoint.ts', 'Specification 2'],
  ['webhooks.endpoint.description-max', 'A description is at most 255 characters on create and update.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 2'],
  ['webhooks.endpoint.limit', 'A workspace has at most 10 endpoints; one more is 402.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 8'],
  ['webhooks.manage.who', 'Management needs scope `admin` and a caller who is owner or admin of the workspace.', 'services/webhook-dispatcher/src/queries/require-endpoint.ts', 'Specification 4.3'],
  ['webhooks.manage.not-found', 'An endpoint that does not exist is 404 on every operation that names it.', 'services/webhook-dispatcher/src/queries/require-endpoint.ts', 'Specification 7'],
  ['webhooks.list.by-workspace', '`GET /api/webhooks` needs `workspaceId` and answers 200 `{ok, endpoints}`.', 'services/webhook-dispatcher/src/http/endpoints.ts', 'Specification 4.3'],
  ['webhooks.create.answer', '`POST /api/webhooks` answers 201 `{ok, endpoint, secret}`; the secret starts with `whsec_`.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 4.3'],
  ['webhooks.create.url-https', 'An endpoint URL is public HTTPS.', 'services/webhook-dispatcher/src/attempt/endpoint-url.ts', 'Specification 2'],
  ['webhooks.create.url-public', 'Loopback, private and link-local addresses are refused.', 'services/webhook-dispatcher/src/attempt/endpoint-url.ts', 'Specification 2'],
  ['webhooks.create.required', 'Creating needs `url` and `workspaceId`; `description` and `eventTypes` are optional.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 2'],
  ['webhooks.create.not-configured', 'Creating answers 503 when webhooks are not configured on the deployment.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 4.3'],
  ['webhooks.event-types.list', '`GET /api/webhooks/event-types` answers 200 `{ok, eventTypes}`, the subscribable types, without a credential.', 'services/webhook-dispatcher/src/http/endpoints.ts', 'Specification 4.3'],
  ['webhooks.read.answer', '`GET /api/webhooks/{id}` answers 200 `{ok, endpoint}`.', 'services/webhook-dispatcher/src/http/endpoints.ts', 'Specification 4.3'],
  ['webhooks.update.optional', 'Every field of an update is optional: `url`, `description`, `eventTypes`, `enabled`.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 2'],
  ['webhooks.update.no-extra', 'An update refuses unknown properties.', 'packages/contracts/src/webhooks.ts', 'Specification 2'],
  ['webhooks.update.re-enable', 'Setting `enabled` to true enables the endpoint again and clears its failure count.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 3'],
  ['webhooks.delete.history', 'Deleting an endpoint answers 200 and deletes its delivery history.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 4.3'],
  ['webhooks.deliveries.page', 'Deliveries are listed newest first, `limit` 1 to 100 with default 25, backwards by `before`.', 'services/webhook-dispatcher/src/queries/read-deliveries.ts', 'Specification 4.3'],
  ['webhooks.deliveries.fields', 'A delivery has `id`, `endpointId`, `eventId`, `eventType`, `status`, `attemptCount`, `createdAt`, the event as `payload`, and data of its last and next attempt.', 'packages/contracts/src/webhooks/delivery.ts', 'Specification 2'],
  ['webhooks.deliveries.status', 'A delivery is `pending`, `succeeded` or `failed`.', 'packages/contracts/src/webhooks/delivery.ts', 'Specification 3'],
  ['webhooks.retry.queued', 'Retrying a delivery answers 202 and queues one more attempt.', 'services/webhook-dispatcher/src/commands/manage-deliveries.ts', 'Specification 4.3'],
  ['webhooks.retry.not-found', 'Retrying an unknown endpoint or delivery is 404.', 'services/webhook-dispatcher/src/commands/manage-deliveries.ts', 'Specification 4.3'],
  ['webhooks.rotate.answer', 'Rotating answers 200 `{ok, endpoint, secret}` with the new secret.', 'services/webhook-dispatcher/src/commands/manage-endpoints.ts', 'Specification 4.3'],
  ['webhooks.test.queued', '`POST /api/webhooks/{id}/test` answers 202 and queues an `endpoint.test` event.', 'services/webhook-dispatcher/src/commands/manage-deliveries.ts', 'Specification 4.3'],
  ['webhooks.secret.at-rest', 'Secrets are 32 bytes, encrypted at rest.', 'services/webhook-dispatcher/src/domain/secrets.ts', 'Design 9'],
];

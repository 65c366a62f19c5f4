import type { Rows } from './rule.ts';

/** How an event reaches an endpoint: sections 3 and 6 of the specification. */
// prettier-ignore
export const webhookDelivery: Rows = [
  ['webhooks.headers.id', '`webhook-id` is the event id.', 'services/webhook-dispatcher/src/attempt/send.ts', 'Specification 6'],
  ['webhooks.headers.timestamp', '`webhook-timestamp` is the Unix second when this attempt was signed.', 'services/webhook-dispatcher/src/attempt/send.ts', 'Specification 6'],
  ['webhooks.headers.signature', '`webhook-signature` holds one or more entries `v1,<base64>` separated by spaces.', 'services/webhook-dispatcher/src/domain/signature.ts', 'Specification 6'],
  ['webhooks.signature.content', 'The signed content is `<webhook-id>.<webhook-timestamp>.<raw body>` under HMAC-SHA256.', 'services/webhook-dispatcher/src/domain/signature.ts', 'Specification 6'],
  ['webhooks.signature.key', 'The signing key is the base64-decoded part of the secret after `whsec_`.', 'services/webhook-dispatcher/src/domain/signature.ts', 'Specification 6'],
  ['webhooks.signature.standard', 'A Standard Webhooks consumer verifies every delivery, with five minutes of tolerance.', 'services/webhook-dispatcher/src/domain/signature.ts', 'Specification 6'],
  ['webhooks.signature.no-bearer', 'A delivery is authenticated by its signature; it carries no bearer token.', 'services/webhook-dispatcher/src/attempt/send.ts', 'Specification 5'],
  ['webhooks.signature.rotation', 'For 24 hours after a rotation each delivery carries one signature per secret.', 'services/webhook-dispatcher/src/domain/secrets.ts', 'Specification 6'],
  ['webhooks.attempt.success', 'Any 2xx within ten seconds is success: the delivery is `succeeded`.', 'services/webhook-dispatcher/src/attempt/send.ts', 'Specification 3'],
  ['webhooks.attempt.deadline', 'An answer after ten seconds is no success.', 'services/webhook-dispatcher/src/attempt/send.ts', 'Specification 8'],
  ['webhooks.attempt.no-redirects', 'Redirects are not followed.', 'services/webhook-dispatcher/src/attempt/exchange.ts', 'Specification 2'],
  ['webhooks.attempt.address-guard', 'The address used is the address checked: no request ever goes to a non-public address.', 'packages/service-kit/src/egress/address-guard.ts', 'Design 9'],
  ['webhooks.retry.schedule', 'Without a 2xx the delivery is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.', 'services/webhook-dispatcher/src/domain/schedule.ts', 'Specification 6'],
  ['webhooks.retry.eight-attempts', 'After the eighth attempt without a 2xx the delivery is `failed`.', 'services/webhook-dispatcher/src/domain/schedule.ts', 'Specification 6'],
  ['webhooks.disable.gone', '`410 Gone` on any attempt disables the endpoint immediately.', 'services/webhook-dispatcher/src/domain/disable-rule.ts', 'Specification 6'],
  ['webhooks.disable.three-days', 'About three days of consecutive failures switch the endpoint off with `disabledReason` `consecutive_failures`.', 'services/webhook-dispatcher/src/domain/disable-rule.ts', 'Specification 6'],
  ['webhooks.order.commit', 'Events of a workspace are queued in commit order and arrive in ascending `syncActionId`, retries aside.', 'services/webhook-dispatcher/src/lanes/lane.ts', 'Specification 6'],
  ['webhooks.order.slow-endpoint', 'Of two events reordered by a retry, the one with the larger `syncActionId` is newer.', 'services/webhook-dispatcher/src/lanes/lane.ts', 'Specification 6'],
  ['webhooks.repeat.same-id', 'A delivery that arrives twice carries the same `webhook-id`.', 'services/webhook-dispatcher/src/store/outcomes.ts', 'Specification 6'],
  ['webhooks.test.same-road', '`endpoint.test` passes through the same queue and signing as real events.', 'services/webhook-dispatcher/src/store/enqueue.ts', 'Specification 6'],
  ['webhooks.test.never-filtered', '`endpoint.test` is sent for any `eventTypes`.', 'services/webhook-dispatcher/src/store/enqueue.ts', 'Specification 6'],
  ['webhooks.fairness.neighbors', 'Endpoints that hang or fall behind do not delay the others.', 'services/webhook-dispatcher/src/lanes/slots.ts', 'Design 9'],
];

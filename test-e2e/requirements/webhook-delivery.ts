import type { Rule } from './rule.ts';

/** How an event reaches an endpoint: sections 3 and 6 of the specification. */
export const webhookDelivery: readonly Rule[] = [
  {
    id: 'webhooks.headers.id',
    source: 'Specification 6',
    text: '`webhook-id` is the event id.',
    home: 'services/webhook-dispatcher/src/attempt/send.ts',
  },
  {
    id: 'webhooks.headers.timestamp',
    source: 'Specification 6',
    text: '`webhook-timestamp` is the Unix second when this attempt was signed.',
    home: 'services/webhook-dispatcher/src/attempt/send.ts',
  },
  {
    id: 'webhooks.headers.signature',
    source: 'Specification 6',
    text: '`webhook-signature` holds one or more entries `v1,<base64>` separated by spaces.',
    home: 'services/webhook-dispatcher/src/domain/signature.ts',
  },
  {
    id: 'webhooks.signature.content',
    source: 'Specification 6',
    text: 'The signed content is `<webhook-id>.<webhook-timestamp>.<raw body>` under HMAC-SHA256.',
    home: 'services/webhook-dispatcher/src/domain/signature.ts',
  },
  {
    id: 'webhooks.signature.key',
    source: 'Specification 6',
    text: 'The signing key is the base64-decoded part of the secret after `whsec_`.',
    home: 'services/webhook-dispatcher/src/domain/signature.ts',
  },
  {
    id: 'webhooks.signature.standard',
    source: 'Specification 6',
    text: 'A Standard Webhooks consumer verifies every delivery, with five minutes of tolerance.',
    home: 'services/webhook-dispatcher/src/domain/signature.ts',
  },
  {
    id: 'webhooks.signature.no-bearer',
    source: 'Specification 5',
    text: 'A delivery is authenticated by its signature; it carries no bearer token.',
    home: 'services/webhook-dispatcher/src/attempt/send.ts',
  },
  {
    id: 'webhooks.signature.rotation',
    source: 'Specification 6',
    text: 'For 24 hours after a rotation each delivery carries one signature per secret.',
    home: 'services/webhook-dispatcher/src/domain/secrets.ts',
  },
  {
    id: 'webhooks.attempt.success',
    source: 'Specification 3',
    text: 'Any 2xx within ten seconds is success: the delivery is `succeeded`.',
    home: 'services/webhook-dispatcher/src/attempt/send.ts',
  },
  {
    id: 'webhooks.attempt.deadline',
    source: 'Specification 8',
    text: 'An answer after ten seconds is no success.',
    home: 'services/webhook-dispatcher/src/attempt/send.ts',
  },
  {
    id: 'webhooks.attempt.no-redirects',
    source: 'Specification 2',
    text: 'Redirects are not followed.',
    home: 'services/webhook-dispatcher/src/attempt/exchange.ts',
  },
  {
    id: 'webhooks.attempt.address-guard',
    source: 'Design 9',
    text: 'The address used is the address checked: no request ever goes to a non-public address.',
    home: 'packages/service-kit/src/egress/address-guard.ts',
  },
  {
    id: 'webhooks.retry.schedule',
    source: 'Specification 6',
    text: 'Without a 2xx the delivery is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.',
    home: 'services/webhook-dispatcher/src/domain/schedule.ts',
  },
  {
    id: 'webhooks.retry.eight-attempts',
    source: 'Specification 6',
    text: 'After the eighth attempt without a 2xx the delivery is `failed`.',
    home: 'services/webhook-dispatcher/src/domain/schedule.ts',
  },
  {
    id: 'webhooks.disable.gone',
    source: 'Specification 6',
    text: '`410 Gone` on any attempt disables the endpoint immediately.',
    home: 'services/webhook-dispatcher/src/domain/disable-rule.ts',
  },
  {
    id: 'webhooks.disable.three-days',
    source: 'Specification 6',
    text: 'About three days of consecutive failures switch the endpoint off with `disabledReason` `consecutive_failures`.',
    home: 'services/webhook-dispatcher/src/domain/disable-rule.ts',
  },
  {
    id: 'webhooks.order.commit',
    source: 'Specification 6',
    text: 'Events of a workspace are queued in commit order and arrive in ascending `syncActionId`, retries aside.',
    home: 'services/webhook-dispatcher/src/lanes/lane.ts',
  },
  {
    id: 'webhooks.order.slow-endpoint',
    source: 'Specification 6',
    text: 'Of two events reordered by a retry, the one with the larger `syncActionId` is newer.',
    home: 'services/webhook-dispatcher/src/lanes/lane.ts',
  },
  {
    id: 'webhooks.repeat.same-id',
    source: 'Specification 6',
    text: 'A delivery that arrives twice carries the same `webhook-id`.',
    home: 'services/webhook-dispatcher/src/store/outcomes.ts',
  },
  {
    id: 'webhooks.test.same-road',
    source: 'Specification 6',
    text: '`endpoint.test` passes through the same queue and signing as real events.',
    home: 'services/webhook-dispatcher/src/store/enqueue.ts',
  },
  {
    id: 'webhooks.test.never-filtered',
    source: 'Specification 6',
    text: '`endpoint.test` is sent for any `eventTypes`.',
    home: 'services/webhook-dispatcher/src/store/enqueue.ts',
  },
  {
    id: 'webhooks.fairness.neighbors',
    source: 'Design 9',
    text: 'Endpoints that hang or fall behind do not delay the others.',
    home: 'services/webhook-dispatcher/src/lanes/slots.ts',
  },
];

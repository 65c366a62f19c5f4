import { EXAMPLE_IDS } from '../example-ids.ts';
import { count, objectOf, textOrNull, timestamp, timestampOrNull, uuid } from '../parts.ts';
import type { TypeOf } from '../type-of.ts';
import { EVENT_TYPES, TEST_EVENT_TYPE, eventSchema } from './event.ts';

/** Why an attempt failed. The codes are stable, because they are shown as `lastError`. */
export const ATTEMPT_ERRORS = [
  'dns_error',
  'blocked_address',
  'connection_refused',
  'connection_reset',
  'connect_timeout',
  'tls_error',
  'timeout',
  'http_status',
  'invalid_response',
  // Nothing was sent: the service stopped during the attempts before.
  'interrupted',
] as const;

/** Keeps webhooks.deliveries.fields, webhooks.deliveries.status. */
export const deliverySchema = {
  description: 'One event for one endpoint.',
  ...objectOf({
    id: { ...uuid, description: 'Unique identifier.' },
    endpointId: { ...uuid, description: 'The endpoint it is for.' },
    eventId: { ...uuid, description: 'The `id` of the event.' },
    eventType: { type: 'string', enum: [...EVENT_TYPES, TEST_EVENT_TYPE], description: 'The `type` of the event.' },
    status: {
      type: 'string',
      enum: ['pending', 'succeeded', 'failed'],
      description:
        '`pending`: an attempt will follow. `succeeded`: answered with 2xx. `failed`: no attempt will follow.',
    },
    attemptCount: { ...count, description: 'Attempts so far, manual ones included.' },
    createdAt: {
      ...timestamp,
      description:
        'When it was queued. Deliveries of one endpoint are at least a millisecond apart, so this runs ahead of the clock while more than 1,000 a second are queued.',
    },
    payload: eventSchema,
    completedAt: { ...timestampOrNull, description: 'When it succeeded or failed for good.' },
    lastAttemptAt: { ...timestampOrNull, description: 'When the last attempt began.' },
    nextAttemptAt: { ...timestampOrNull, description: 'When the next attempt is due; null when none will follow.' },
    lastStatusCode: {
      type: ['integer', 'null'],
      description: 'HTTP status of the last attempt; null without an answer.',
    },
    lastResponseSnippet: {
      ...textOrNull,
      description: 'Beginning of the body of the last answer, at most 1 KiB.',
    },
    lastError: {
      ...textOrNull,
      description: `Why the last attempt failed: ${ATTEMPT_ERRORS.map((code) => `\`${code}\``).join(', ')}. With \`interrupted\`, nothing was sent, because the service stopped during the attempts before.`,
    },
  }),
} as const;

export type WebhookDelivery = TypeOf<typeof deliverySchema>;

export const deliveryExample = {
  id: EXAMPLE_IDS.delivery,
  endpointId: EXAMPLE_IDS.endpoint,
  eventId: EXAMPLE_IDS.event,
  eventType: 'task.completed',
  status: 'succeeded',
  attemptCount: 1,
  createdAt: '2026-11-21T09:30:00.015Z',
  payload: {
    id: EXAMPLE_IDS.event,
    type: 'task.completed',
    createdAt: '2026-11-21T09:30:00.000Z',
    apiVersion: '1',
    workspaceId: EXAMPLE_IDS.workspace,
    syncActionId: '5021',
    data: {
      object: { id: EXAMPLE_IDS.task, number: 7, title: 'Rotate the keys', completedAt: '2026-11-21T09:30:00.000Z' },
      changes: ['completedAt'],
    },
  },
  completedAt: '2026-11-21T09:30:00.120Z',
  lastAttemptAt: '2026-11-21T09:30:00.020Z',
  nextAttemptAt: null,
  lastStatusCode: 204,
  lastResponseSnippet: '',
  lastError: null,
} as const;

export const attemptSchema = {
  description: 'One attempt of a delivery.',
  ...objectOf({
    number: { type: 'integer', minimum: 1, description: 'Counts up from 1.' },
    startedAt: { ...timestamp, description: 'When it began.' },
    durationMs: { ...count, description: 'How long it took.' },
    statusCode: { type: ['integer', 'null'], description: 'HTTP status; null without an answer.' },
    responseSnippet: { ...textOrNull, description: 'Beginning of the body of the answer.' },
    error: { ...textOrNull, description: 'Why it failed, as in `lastError`; null for a success.' },
  }),
} as const;

export type WebhookAttempt = TypeOf<typeof attemptSchema>;

import { EXAMPLE_IDS } from '../example-ids.ts';
import { LIMITS } from '../limits.ts';
import { count, objectOf, timestamp, timestampOrNull, uuid } from '../parts.ts';
import type { TypeOf } from '../type-of.ts';
import { EVENT_TYPES } from './event.ts';

export const url = {
  type: 'string',
  format: 'uri',
  maxLength: LIMITS.webhookUrlMax,
  description:
    'Public HTTPS address that receives the events, on port 443 or from 1024 on. Private, loopback and link-local addresses are refused; redirects are not followed.',
} as const;
/** Keeps limits.webhook.description. */
export const description = {
  type: 'string',
  maxLength: LIMITS.webhookDescriptionMax,
  description: 'What the endpoint is for.',
} as const;
export const eventTypes = {
  type: 'array',
  maxItems: EVENT_TYPES.length,
  uniqueItems: true,
  items: { type: 'string', enum: EVENT_TYPES },
  description: 'The event types it receives; empty for every type. `endpoint.test` is always sent.',
} as const;

/** Keeps webhooks.endpoint.fields, webhooks.endpoint.no-secret. */
export const endpointSchema = {
  description: 'A webhook endpoint, without its secret.',
  ...objectOf({
    id: { ...uuid, description: 'Unique identifier.' },
    workspaceId: { ...uuid, description: 'The workspace whose events it receives.' },
    url: { ...url, description: 'Where events are sent.' },
    description,
    eventTypes,
    enabled: { type: 'boolean', description: 'False while no deliveries are made.' },
    consecutiveFailures: { ...count, description: 'Failed attempts since the last success.' },
    disabledAt: { ...timestampOrNull, description: 'When it was switched off; null while it is enabled.' },
    disabledReason: {
      type: ['string', 'null'],
      enum: ['consecutive_failures', 'gone', null],
      description:
        '`consecutive_failures`: about three days without a success. `gone`: it answered 410. Null while it is enabled, or when a person switched it off.',
    },
    createdAt: { ...timestamp, description: 'When it was created.' },
    updatedAt: { ...timestamp, description: 'When its settings or its state last changed.' },
  }),
} as const;

export type WebhookEndpoint = TypeOf<typeof endpointSchema>;

export const endpointExample = {
  id: EXAMPLE_IDS.endpoint,
  workspaceId: EXAMPLE_IDS.workspace,
  url: 'https://hooks.example.com/tasks',
  description: 'Deploy board',
  eventTypes: ['task.created', 'task.completed'],
  enabled: true,
  consecutiveFailures: 0,
  disabledAt: null,
  disabledReason: null,
  createdAt: '2026-11-21T09:00:00.000Z',
  updatedAt: '2026-11-21T09:00:00.000Z',
} as const;
export const SECRET_EXAMPLE = 'whsec_0Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr=';

export const secret = {
  type: 'string',
  pattern: '^whsec_',
  description: 'Verifies the signatures of deliveries. Shown only here: keep it now, and keep it secret.',
} as const;

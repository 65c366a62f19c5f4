import { objectOf, timestamp, uuid } from '../parts.ts';
import type { TypeOf } from '../type-of.ts';

/** What an endpoint can subscribe to. `endpoint.test` is always sent and therefore not in the list. */
export const EVENT_TYPES = [
  'task.created',
  'task.updated',
  'task.completed',
  'task.archived',
  'task.deleted',
  'project.created',
  'project.updated',
  'project.completed',
  'project.archived',
  'project.deleted',
  'comment.created',
  'comment.updated',
  'comment.deleted',
] as const;
export const TEST_EVENT_TYPE = 'endpoint.test';
export type EventType = (typeof EVENT_TYPES)[number] | typeof TEST_EVENT_TYPE;

/** Body of every delivery. The keys are sent in this order. */
export const eventSchema = {
  description: 'What is sent to an endpoint: the same bytes on every attempt and to every endpoint.',
  ...objectOf({
    id: { ...uuid, description: 'The `webhook-id` header: the same on every attempt.' },
    type: { type: 'string', enum: [...EVENT_TYPES, TEST_EVENT_TYPE], description: 'What happened.' },
    createdAt: { ...timestamp, description: 'When the change was committed.' },
    apiVersion: { type: 'string', description: 'Version of this format.' },
    workspaceId: { ...uuid, description: 'Where it happened.' },
    syncActionId: {
      type: ['string', 'null'],
      description: 'Its position in the sync log; of two events, the larger one is newer. Null for `endpoint.test`.',
    },
    data: {
      description: 'The record.',
      ...objectOf({
        object: { type: 'object', description: 'The full record after the change, or before it for `*.deleted`.' },
        changes: {
          type: 'array',
          items: { type: 'string' },
          description: 'Names of the fields that changed; empty on creates, deletes and tests.',
        },
      }),
    },
  }),
} as const;

export type WebhookEvent = TypeOf<typeof eventSchema>;

import { contract, internalOf } from '../contract.ts';
import { LIMITS } from '../limits.ts';
import { count, objectOf, okBody, textOrNull, timestamp, timestampOrNull, uuid } from '../parts.ts';
import { syncIdText } from '../sync/parts.ts';
import { typed } from '../type-of.ts';

/*
 * How auth moves the webhook endpoints of a workspace to another cell: same ids, same secrets, and the deliveries that were not made yet, in
 * their order. Settled deliveries stay where they are and go with the endpoint.
 */

const ofAuth = internalOf('auth');

/** Deliveries of a page, whose texts have a megabyte together, or one delivery with a larger one. */
export const MOVED_DELIVERIES_MAX = 100;

const movedEndpoint = objectOf({
  id: uuid,
  url: { type: 'string', maxLength: LIMITS.webhookUrlMax },
  description: { type: 'string', maxLength: LIMITS.webhookDescriptionMax },
  eventTypes: { type: 'array', items: { type: 'string' } },
  enabled: { type: 'boolean' },
  hasSucceeded: { type: 'boolean' },
  consecutiveFailures: count,
  failingSince: timestampOrNull,
  lastFailureAt: timestampOrNull,
  disabledAt: timestampOrNull,
  disabledReason: textOrNull,
  createdBy: uuid,
  createdAt: timestamp,
  updatedAt: timestamp,
  /** Of the deliveries that the endpoint ever had: new ones follow it. */
  lastSequence: count,
  lastCreatedAt: timestamp,
  /** In clear, for the key of the other cell. */
  secrets: {
    type: 'array',
    maxItems: LIMITS.webhookSecretsMax,
    items: objectOf({
      id: uuid,
      secret: { type: 'string', maxLength: 200 },
      createdAt: timestamp,
      expiresAt: timestampOrNull,
    }),
  },
});

const movedDelivery = objectOf({
  id: uuid,
  endpointId: uuid,
  eventId: uuid,
  eventAt: timestamp,
  eventType: { type: 'string' },
  /** The bytes that are sent. */
  body: { type: 'string' },
  sequence: count,
  attemptCount: count,
  scheduledAttempts: count,
  scheduledAt: timestampOrNull,
  manualAt: timestampOrNull,
  createdAt: timestamp,
  lastAttemptAt: timestampOrNull,
  lastStatusCode: { type: ['integer', 'null'] },
  lastResponseSnippet: textOrNull,
  lastError: textOrNull,
});

const list = { type: 'array' } as const;
const limit = { type: 'integer', minimum: 1, maximum: MOVED_DELIVERIES_MAX } as const;

export type MovedEndpoint = NonNullable<BodyOfPut['endpoints']>[number];
export type MovedDelivery = BodyOfPut['deliveries'][number];
type BodyOfPut = NonNullable<(typeof internalPutEndpoints)['shape']>['body'];

/**
 * Stops the endpoints of a workspace and reads them with a page of their pending deliveries. `unavailable` until the events up to
 * `through` are enqueued and no attempt is under way: after the answer, none begins. It may be called before the workspace is frozen, so that
 * the attempts have ended by then. Each page has all endpoints, so that each put may be the first that arrives. `next` is the `after` of the next page, null on the last one.
 */
export const internalTakeEndpoints = contract({
  ...ofAuth,
  id: 'internalTakeEndpoints',
  path: '/internal/endpoints/take',
  summary: 'Stop the endpoints of a workspace, and read them with their pending deliveries',
  body: objectOf({ workspaceId: uuid, through: syncIdText, limit }, { after: { type: 'string', maxLength: 200 } }),
  reply: {
    status: 200,
    schema: okBody({
      endpoints: typed<readonly MovedEndpoint[]>(list),
      deliveries: typed<readonly MovedDelivery[]>(list),
      next: textOrNull,
    }),
  },
  errors: ['webhooks_not_configured'],
});

/**
 * Puts endpoints and deliveries as they were read. They are attempted after the put that is the last; new events follow the head of the
 * log of that moment.
 */
export const internalPutEndpoints = contract({
  ...ofAuth,
  id: 'internalPutEndpoints',
  path: '/internal/endpoints/put',
  summary: 'Take over endpoints with their pending deliveries',
  bodyBytesMax: LIMITS.mutateBodyBytes,
  body: objectOf({
    workspaceId: uuid,
    endpoints: { type: 'array', maxItems: LIMITS.webhookEndpointsMax, items: movedEndpoint },
    deliveries: { type: 'array', maxItems: MOVED_DELIVERIES_MAX, items: movedDelivery },
    isLast: { type: 'boolean' },
  }),
  reply: { status: 200, schema: okBody({}) },
  errors: ['conflict', 'webhooks_not_configured'],
});

/** Where the endpoints are not any more they are deleted; where a move was given up (`resume`) their attempts go on. */
export const internalEndEndpoints = contract({
  ...ofAuth,
  id: 'internalEndEndpoints',
  path: '/internal/endpoints/end',
  summary: 'Delete the endpoints of a workspace that moved, or resume those of one that stayed',
  body: objectOf({ workspaceId: uuid, resume: { type: 'boolean' } }),
  reply: { status: 200, schema: okBody({}) },
});

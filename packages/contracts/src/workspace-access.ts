import { contract } from './contract.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { EVENT_PLACE_PATTERN } from './ids.ts';
import { memberExample, memberSchema } from './members.ts';
import {
  count,
  done,
  hasMore,
  objectOf,
  okBody,
  pageLimit,
  pageQuery,
  textOrNull,
  timestamp,
  timestampOrNull,
  uuid,
  workspaceId,
  workspaceParams,
} from './parts.ts';
import { GRANT_SCOPES } from './auth/oauth.ts';
import type { TypeOf } from './type-of.ts';

/*
 * Who reaches a workspace, for its owners and admins: how members sign in, their keys and apps, and what happened. What concerns other
 * workspaces of a member is left out.
 */

/** Of an owner or admin, with the scope admin. */
const managed = {
  tag: 'Workspaces',
  scope: 'admin',
  params: workspaceParams,
  errors: ['not_found', 'forbidden'],
} as const;

const accessSchema = {
  description: 'How a member reaches a workspace.',
  ...objectOf({
    ...memberSchema.properties,
    emailVerified: { type: 'boolean', description: 'Whether someone verified that the address is theirs.' },
    signsInWith: {
      type: 'array',
      items: { type: 'string', enum: ['password', 'provider'] },
      description: 'How the person can sign in: with a password of this service, or at an identity provider.',
    },
    hasSecondFactor: {
      type: ['boolean', 'null'],
      description:
        'Whether a password alone is not enough; null for a person of an identity provider, which decides that.',
    },
    lastSignInAt: {
      ...timestampOrNull,
      description: 'The last sign-in on a page, as far as the security record has it.',
    },
    apiKeys: { ...count, description: 'How many API keys of theirs reach this workspace.' },
    apps: { ...count, description: 'How many connected apps of theirs reach this workspace.' },
  }),
} as const;

export type MemberAccess = TypeOf<typeof accessSchema>;

export const listAccess = contract({
  ...managed,
  id: 'listWorkspaceAccess',
  method: 'GET',
  path: '/api/workspaces/{workspaceId}/access',
  summary: 'List how members reach a workspace',
  description:
    'For owners and admins: how each member signs in, and how many keys and apps of theirs reach the workspace. In the order of the ids.',
  query: pageQuery('The `userId` of the last member of the page before.'),
  reply: {
    status: 200,
    description: 'One page of the members.',
    schema: okBody({ members: { type: 'array', items: accessSchema, description: 'Ascending by `userId`.' }, hasMore }),
    example: {
      ok: true,
      members: [
        {
          ...memberExample,
          emailVerified: true,
          signsInWith: ['password'],
          hasSecondFactor: false,
          lastSignInAt: '2026-11-21T09:00:00.000Z',
          apiKeys: 1,
          apps: 0,
        },
      ],
      hasMore: false,
    },
  },
});

const CURSOR = { type: 'string', pattern: EVENT_PLACE_PATTERN, maxLength: 64 } as const;

const eventSchema = {
  description: 'Something that happened with the access to a workspace.',
  ...objectOf({
    id: { ...uuid, description: 'Unique identifier of the event.' },
    at: { ...timestamp, description: 'When it happened.' },
    kind: { type: 'string', description: 'What happened, for programs, such as `sign-in`. New kinds may be added.' },
    text: { type: 'string', description: 'What happened, for people.' },
    userId: {
      ...uuid,
      type: ['string', 'null'],
      description: 'The member it happened to; null for the workspace itself.',
    },
    actor: {
      type: 'string',
      description: 'Who did it: `person`, `operator` of this service, or `system`, which is the service itself.',
    },
    actorId: { ...textOrNull, description: 'The person who did it; null where nothing proved who it was.' },
    subjectId: { ...textOrNull, description: 'The key, the app or the session that it is about.' },
    network: {
      ...textOrNull,
      description: 'The network of the request; null for what does not concern this workspace alone.',
    },
    browser: { ...textOrNull, description: 'The browser or program of the request, with the same exception.' },
  }),
} as const;

export type WorkspaceEvent = TypeOf<typeof eventSchema>;

export const listSecurityEvents = contract({
  ...managed,
  id: 'listSecurityEvents',
  method: 'GET',
  path: '/api/workspaces/{workspaceId}/security-events',
  summary: 'List what happened with the access to a workspace',
  description:
    'For owners and admins, the newest first: sign-ins of members, keys and apps that reach the workspace, who joined and left, and changes of roles. What members do for other workspaces alone is left out, and so is what they did before they joined.',
  callers: ['graph'],
  query: {
    type: 'object',
    properties: { before: { ...CURSOR, description: 'The `next` of the page before.' }, limit: pageLimit },
  },
  reply: {
    status: 200,
    description: 'One page of the events.',
    schema: okBody({
      events: { type: 'array', items: eventSchema, description: 'The newest first.' },
      next: { ...textOrNull, description: 'Send it as `before` for the next page; null after the last one.' },
    }),
    example: {
      ok: true,
      events: [
        {
          id: EXAMPLE_IDS.event,
          at: '2026-11-21T09:00:00.000Z',
          kind: 'key-created',
          text: 'Created the API key “ci”',
          userId: EXAMPLE_IDS.person,
          actor: 'person',
          actorId: EXAMPLE_IDS.person,
          subjectId: EXAMPLE_IDS.apiKey,
          network: '192.0.2.7',
          browser: 'Firefox on Linux',
        },
      ],
      next: null,
    },
  },
});

const appSchema = {
  description: 'An app that a member connected.',
  ...objectOf({
    id: { ...uuid, description: 'Use it to end the access.' },
    userId: { ...uuid, description: 'The member who allowed it.' },
    name: { ...textOrNull, description: 'As the app calls itself. Any app can use any name.' },
    clientId: { type: 'string', description: 'The client of OAuth.' },
    redirectHost: {
      ...textOrNull,
      description: 'Where the app got its answer: a host, or the scheme of an app on a device.',
    },
    scopes: { type: 'array', items: { type: 'string', enum: GRANT_SCOPES }, description: 'What it may do.' },
    coversOtherWorkspaces: {
      type: 'boolean',
      description:
        'True when the member allowed it for all of their workspaces. Only they can end it; remove the member, or ask them.',
    },
    createdAt: { ...timestamp, description: 'When the member allowed it.' },
    lastUsedAt: { ...timestamp, description: 'When it last got tokens.' },
    expiresAt: { ...timestamp, description: 'When it ends if it is not used.' },
  }),
} as const;

export type WorkspaceApp = TypeOf<typeof appSchema>;

const APPS_PATH = '/api/workspaces/{workspaceId}/apps';

export const listApps = contract({
  ...managed,
  id: 'listWorkspaceApps',
  method: 'GET',
  path: APPS_PATH,
  summary: 'List the apps that reach a workspace',
  description: 'For owners and admins: what members connected by OAuth. In the order of the ids.',
  query: pageQuery('The `id` of the last app of the page before.'),
  reply: {
    status: 200,
    description: 'One page of the apps.',
    schema: okBody({ apps: { type: 'array', items: appSchema, description: 'Ascending by `id`.' }, hasMore }),
    example: {
      ok: true,
      apps: [
        {
          id: EXAMPLE_IDS.otherTx,
          userId: EXAMPLE_IDS.person,
          name: 'Example Editor',
          clientId: EXAMPLE_IDS.endpoint,
          redirectHost: 'editor.example',
          scopes: ['read', 'write'],
          coversOtherWorkspaces: false,
          createdAt: '2026-11-21T09:00:00.000Z',
          lastUsedAt: '2026-11-21T09:00:00.000Z',
          expiresAt: '2026-12-21T09:00:00.000Z',
        },
      ],
      hasMore: false,
    },
  },
});

export const endApp = contract({
  ...managed,
  id: 'endWorkspaceApp',
  method: 'DELETE',
  path: `${APPS_PATH}/{grantId}`,
  summary: 'End the access of an app to a workspace',
  description: 'For owners. Ends an app that is limited to the workspace, within a second, also on open connections.',
  params: objectOf({ workspaceId, grantId: { ...uuid, description: 'The `id` of the app in the list.' } }),
  reply: done('It has ended.'),
});

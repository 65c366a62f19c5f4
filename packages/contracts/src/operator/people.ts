import { contract } from '../contract.ts';
import { NOT_BLANK_PATTERN } from '../ids.ts';
import { count, hasMore, objectOf, okBody, text, textOrNull, timestamp, timestampOrNull, uuid } from '../parts.ts';
import type { JsonSchema, TypeOf } from '../type-of.ts';
import { NAME, URL_KEY } from '../workspaces.ts';
import { away, byId, common, OPERATOR_ERRORS, pageQuery } from './parts.ts';

const personSchema = objectOf({
  userId: uuid,
  name: text,
  email: { ...textOrNull, description: 'As others see it.' },
  createdAt: timestamp,
  disabledAt: { ...timestampOrNull, description: 'Since when no credential of the person works; null: they work.' },
  erasedAt: { ...timestampOrNull, description: 'When the person was erased; null: not.' },
  lastSeenAt: {
    ...timestampOrNull,
    description: 'The last use of a session, a key or an app; null for a person who only has tokens of a provider.',
  },
  workspaces: { ...count, description: 'How many workspaces the person is in.' },
});

export type OperatorPerson = TypeOf<typeof personSchema>;

function listOf<const Properties extends Readonly<Record<string, JsonSchema>>>(properties: Properties) {
  return { type: 'array', items: objectOf(properties) } as const;
}

const detailSchema = objectOf(
  {
    ...personSchema.properties,
    account: {
      description: 'The account with a password; null for a person without one.',
      anyOf: [
        objectOf({ id: uuid, email: text, emailVerified: { type: 'boolean' }, createdAt: timestamp }),
        { type: 'null' },
      ],
    },
    secondFactors: listOf({ name: text, createdAt: timestamp }),
    identities: listOf({ issuer: text, subject: text, email: textOrNull, emailVerified: { type: 'boolean' } }),
    memberships: listOf({ workspaceId: uuid, name: text, urlKey: text, role: text, archivedAt: timestampOrNull }),
    sessions: listOf({
      id: uuid,
      browser: textOrNull,
      lastNetwork: textOrNull,
      createdAt: timestamp,
      lastUsedAt: timestamp,
    }),
    keys: listOf({
      id: uuid,
      label: text,
      keyPrefix: text,
      permissions: text,
      workspaceId: textOrNull,
      createdAt: timestamp,
      expiresAt: timestampOrNull,
      lastUsedAt: timestampOrNull,
    }),
    apps: listOf({
      id: uuid,
      clientId: text,
      clientName: textOrNull,
      scopes: { type: 'array', items: text },
      workspaceId: textOrNull,
      createdAt: timestamp,
      expiresAt: timestamp,
      lastUsedAt: timestampOrNull,
    }),
  },
  { away },
);

export type OperatorPersonDetail = TypeOf<typeof detailSchema>;

export const listPeople = contract({
  ...common,
  id: 'operatorListPeople',
  method: 'GET',
  path: '/operator/people',
  summary: 'List or find people, by name',
  query: pageQuery,
  reply: { status: 200, schema: okBody({ people: { type: 'array', items: personSchema }, hasMore }, { away }) },
});

/** Of an operation on one person, which answers with that person unless it says otherwise. */
const ofPerson = {
  ...common,
  params: byId('userId'),
  reply: { status: 200, schema: okBody({ person: detailSchema }) },
} as const;

export const readPerson = contract({
  ...ofPerson,
  id: 'operatorReadPerson',
  method: 'GET',
  path: '/operator/people/{userId}',
  summary: 'A person with everything by which they sign in',
});

/** Shown only in this answer; works once. */
const link = objectOf({ url: text, expiresAt: timestamp });

export const makeResetLink = contract({
  ...ofPerson,
  id: 'operatorMakeResetLink',
  method: 'POST',
  path: '/operator/people/{userId}/reset-link',
  summary: 'Make a link by which a person with an account chooses a new password',
  idempotencyKey: true,
  reply: { status: 201, schema: okBody({ link }) },
  errors: [...OPERATOR_ERRORS, 'conflict'],
});

export const disablePerson = contract({
  ...ofPerson,
  id: 'operatorDisablePerson',
  method: 'POST',
  path: '/operator/people/{userId}/disabling',
  summary: 'End the sessions and apps of a person, and refuse every sign-in, key and token of theirs',
  idempotencyKey: true,
});

export const enablePerson = contract({
  ...ofPerson,
  id: 'operatorEnablePerson',
  method: 'POST',
  path: '/operator/people/{userId}/enabling',
  summary: 'Let a disabled person sign in again; their API keys work again',
  idempotencyKey: true,
  errors: [...OPERATOR_ERRORS, 'conflict'],
});

export const endSessions = contract({
  ...ofPerson,
  id: 'operatorEndSessions',
  method: 'DELETE',
  path: '/operator/people/{userId}/sessions',
  summary: 'End the sessions and the apps of a person; API keys stay',
});

export const removeSecondFactors = contract({
  ...ofPerson,
  id: 'operatorRemoveSecondFactors',
  method: 'DELETE',
  path: '/operator/people/{userId}/second-factors',
  summary: 'Remove all second factors of a person, who lost them; the password alone is enough then',
});

export const exportPerson = contract({
  ...ofPerson,
  id: 'operatorExportPerson',
  method: 'GET',
  path: '/operator/people/{userId}/export',
  summary: 'Everything that is stored of a person, one JSON object a line',
  reply: { status: 200, contentType: 'application/x-ndjson', schema: { type: 'string' } },
});

export const erasePerson = contract({
  ...ofPerson,
  id: 'operatorErasePerson',
  method: 'POST',
  path: '/operator/people/{userId}/erasure',
  summary: 'Remove a person from all workspaces, and delete their profile and everything by which they sign in',
  idempotencyKey: true,
  body: objectOf({
    name: { type: 'string', maxLength: 400, description: 'The name of the person, as a confirmation.' },
  }),
  reply: {
    status: 200,
    schema: okBody({ stays: { type: 'array', items: text, description: 'What stays of the person, in sentences.' } }),
  },
  errors: [...OPERATOR_ERRORS, 'conflict', 'last_owner'],
});

export const createOwner = contract({
  ...common,
  id: 'operatorCreateOwner',
  method: 'POST',
  path: '/operator/owners',
  summary: 'Create a workspace with its owner, who gets an account',
  description:
    'Repeated with the same address and urlKey, it changes nothing. The account has no password until its owner chooses one by the link.',
  idempotencyKey: true,
  body: objectOf({
    email: { type: 'string', minLength: 3, maxLength: 320 },
    name: { type: 'string', minLength: 1, maxLength: 200, pattern: NOT_BLANK_PATTERN },
    workspaceName: { type: 'string', minLength: NAME.min, maxLength: NAME.max, pattern: NOT_BLANK_PATTERN },
    urlKey: { type: 'string', minLength: URL_KEY.min, maxLength: URL_KEY.max, pattern: URL_KEY.pattern },
  }),
  reply: { status: 201, schema: okBody({ userId: uuid, workspaceId: uuid, link }) },
  errors: [...OPERATOR_ERRORS, 'slug_taken', 'conflict', 'forbidden'],
});

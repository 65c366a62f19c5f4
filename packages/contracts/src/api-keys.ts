import { contract, type BodyOf } from './contract.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { NOT_BLANK_PATTERN } from './ids.ts';
import { okBody, timestamp, uuid } from './parts.ts';
import type { TypeOf } from './type-of.ts';

/** `read-only` keys hold the scope read, `full-access` keys all scopes. */
export const KEY_PERMISSIONS = ['read-only', 'full-access'] as const;
export type KeyPermissions = (typeof KEY_PERMISSIONS)[number];

/** The credential that a key was made with. Only its person sees which other key it was. */
export type KeyMaker =
  | { readonly kind: 'session' }
  | { readonly kind: 'api_key'; readonly id?: string; readonly keyPrefix?: string };

const timestampOrNull = { type: ['string', 'null'], format: 'date-time' } as const;
const label = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  pattern: NOT_BLANK_PATTERN,
  description: 'What the key is for. Not blank; length in Unicode code points.',
} as const;

const keyProperties = {
  id: { ...uuid, description: 'Unique identifier; use it to revoke the key.' },
  userId: { ...uuid, description: 'The owner of the key.' },
  label: { type: 'string', description: 'What the key is for.' },
  keyPrefix: { type: 'string', description: 'First characters of the token, to tell keys apart.' },
  permissions: {
    type: 'string',
    enum: KEY_PERMISSIONS,
    description: '`read-only`: the scope `read`. `full-access`: the scopes `read`, `write` and `admin`.',
  },
  workspaceId: { ...uuid, type: ['string', 'null'], description: 'Set when the key sees one workspace only.' },
  expiresAt: { ...timestampOrNull, description: 'When it expires; null for never.' },
  createdAt: { ...timestamp, description: 'When it was created.' },
  createdBy: {
    description:
      'What it was made with; null for a key that is older than this record, or was made by the operator of the service.',
    anyOf: [
      {
        type: 'object',
        additionalProperties: false,
        required: ['kind'],
        properties: {
          kind: {
            type: 'string',
            enum: ['session', 'api_key'],
            description: '`session`: a signed-in person. `api_key`: another key, also when that one is revoked by now.',
          },
          id: { ...uuid, description: 'Of that key; its person alone is shown it.' },
          keyPrefix: { type: 'string', description: 'Of that key; its person alone is shown it.' },
        },
      },
      { type: 'null' },
    ],
  },
  lastUsedAt: { ...timestampOrNull, description: 'At most a minute behind.' },
} as const;

export const keySchema = {
  type: 'object',
  description: 'A personal API key, without its token.',
  additionalProperties: false,
  required: Object.keys(keyProperties),
  properties: keyProperties,
} as const;

export type ApiKey = TypeOf<typeof keySchema>;

const newKeyReply = okBody({
  key: {
    ...keySchema,
    description: 'The key, with its token this once.',
    required: [...keySchema.required, 'token'],
    properties: {
      ...keyProperties,
      token: {
        type: 'string',
        description: 'Goes into `Authorization: Bearer`. Shown only here: keep it now, and keep it secret.',
      },
    },
  },
});

const example = {
  id: EXAMPLE_IDS.apiKey,
  userId: EXAMPLE_IDS.person,
  label: 'ci',
  keyPrefix: 'wts_0Ab1Cd2E',
  permissions: 'full-access',
  workspaceId: null,
  expiresAt: null,
  createdAt: '2026-11-21T09:00:00.000Z',
  createdBy: { kind: 'session' },
  lastUsedAt: null,
} as const;

export const listApiKeys = contract({
  id: 'listApiKeys',
  method: 'GET',
  path: '/api/auth/keys',
  summary: 'List your API keys',
  description:
    'Revoked keys are left out; tokens are never shown again. With `workspaceId`, the owners of that workspace get the keys of everybody that are limited to it.',
  tag: 'API keys',
  scope: 'admin',
  query: {
    type: 'object',
    properties: { workspaceId: { ...uuid, description: 'Keys limited to this workspace, for its owners.' } },
  },
  reply: {
    status: 200,
    description: 'Your active keys, without their tokens.',
    schema: okBody({ keys: { type: 'array', items: keySchema, description: 'The newest first.' } }),
    example: { ok: true, keys: [example] },
  },
  errors: ['forbidden', 'not_found'],
});

/** Keeps api-keys.create.label-only. */
export const createApiKey = contract({
  id: 'createApiKey',
  method: 'POST',
  idempotencyKey: true,
  path: '/api/auth/keys',
  summary: 'Create an API key with full access',
  description:
    'The token is shown only here. A key made with a key that expires expires with it. One made with a key outlives the revocation of that key, unless both are revoked together.',
  tag: 'API keys',
  scope: 'admin',
  body: { type: 'object', additionalProperties: false, required: ['label'], properties: { label } },
  bodyExample: { label: 'ci' },
  reply: {
    status: 201,
    description: 'The key with its token.',
    schema: newKeyReply,
    example: { ok: true, key: { ...example, token: 'wts_0Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3Ab4Cd5Ef6Gh7' } },
  },
  errors: ['forbidden', 'conflict'],
});

export const revokeApiKey = contract({
  id: 'revokeApiKey',
  method: 'DELETE',
  path: '/api/auth/keys/{keyId}',
  summary: 'Revoke an API key',
  description:
    'Your own, or one that is limited to a workspace you own. Takes effect everywhere within a second; open sockets of the key close.',
  tag: 'API keys',
  scope: 'admin',
  params: {
    type: 'object',
    additionalProperties: false,
    required: ['keyId'],
    properties: { keyId: { ...uuid, description: 'Which one: its `id`, not its token.' } },
  },
  query: {
    type: 'object',
    properties: {
      includeMade: {
        type: 'string',
        enum: ['true', 'false'],
        default: 'false',
        description:
          '`true`: the keys that were made with it die too, and those made with these, and so on; also when it is revoked already. After a leak, ask for this.',
      },
    },
  },
  reply: {
    status: 200,
    description: 'The key is revoked.',
    schema: okBody({}),
    example: { ok: true },
  },
  errors: ['not_found', 'forbidden'],
});

export type NewApiKey = BodyOf<typeof internalCreateApiKey>;

/** Makes a key with all its options, for other services. Needs the caller's scope `admin` too. */
export const internalCreateApiKey = contract({
  id: 'internalCreateApiKey',
  method: 'POST',
  path: '/internal/api-keys',
  summary: 'Create an API key with chosen permissions',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['graph'] },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['label', 'permissions'],
    properties: {
      label,
      permissions: { type: 'string', enum: KEY_PERMISSIONS },
      workspaceId: uuid,
      expiresAt: timestamp,
    },
  },
  reply: { status: 201, schema: newKeyReply },
  errors: ['forbidden', 'not_found', 'conflict'],
});

/** Keys per page of `internalListRevokedKeys`. */
export const REVOKED_KEYS_PAGE = 1000;

/**
 * The keys revoked after a time, oldest first, for callers that cannot rely on messages, which may be lost. Times are those of the
 * database: the next call begins at `at` of this reply. After a reply of REVOKED_KEYS_PAGE keys there may be more: call again from
 * the last one.
 */
export const internalListRevokedKeys = contract({
  id: 'internalListRevokedKeys',
  method: 'POST',
  path: '/internal/api-keys/revoked',
  summary: 'API keys revoked after a moment; without one, the moment alone',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['sync'], forItself: true },
  body: {
    type: 'object',
    additionalProperties: false,
    properties: { since: timestamp, afterId: uuid },
  },
  reply: {
    status: 200,
    schema: okBody({
      at: timestamp,
      keys: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['id', 'userId', 'revokedAt'],
          properties: { id: uuid, userId: uuid, revokedAt: timestamp },
        },
      },
    }),
  },
  errors: [],
});

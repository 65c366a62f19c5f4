import { contract, type BodyOf } from './contract.ts';
import { EXAMPLE_IDS } from './example-ids.ts';
import { NOT_BLANK_PATTERN } from './ids.ts';
import { LIMITS } from './limits.ts';
import { done, objectOf, okBody, timestamp, timestampOrNull, uuid } from './parts.ts';
import type { TypeOf } from './type-of.ts';

/** `read-only` keys hold the scope read, `full-access` keys all scopes. */
export const KEY_PERMISSIONS = ['read-only', 'full-access'] as const;
export type KeyPermissions = (typeof KEY_PERMISSIONS)[number];

/** The credential that a key was made with. Only its person sees which other key it was. */
export type KeyMaker =
  | { readonly kind: 'session' }
  | { readonly kind: 'api_key'; readonly id?: string; readonly keyPrefix?: string };

const label = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  pattern: NOT_BLANK_PATTERN,
  description: 'What the key is for. Not blank; length in Unicode code points.',
} as const;

export const keySchema = {
  description: 'A personal API key, without its token.',
  ...objectOf({
    id: { ...uuid, description: 'Unique identifier; use it to revoke the key.' },
    userId: { ...uuid, description: 'The owner of the key.' },
    label: { type: 'string', description: 'What the key is for.' },
    keyPrefix: { type: 'string', description: 'First characters of the token, to recognize the key.' },
    permissions: {
      type: 'string',
      enum: KEY_PERMISSIONS,
      description: '`read-only`: the scope `read`. `full-access`: the scopes `read`, `write` and `admin`.',
    },
    workspaceId: {
      ...uuid,
      type: ['string', 'null'],
      description:
        'The only workspace that the key has access to; null when it has access to all workspaces of its owner.',
    },
    expiresAt: { ...timestampOrNull, description: 'When it expires; null for never.' },
    createdAt: { ...timestamp, description: 'When it was created.' },
    createdBy: {
      description:
        'What the key was created with; null for a key from before this was stored, or one created by the operator of the service.',
      anyOf: [
        objectOf(
          {
            kind: {
              type: 'string',
              enum: ['session', 'api_key'],
              description: '`session`: a signed-in person. `api_key`: another key, which may be revoked now.',
            },
          },
          {
            id: { ...uuid, description: 'The `id` of that key; only its owner gets it.' },
            keyPrefix: { type: 'string', description: 'Prefix of the key. Shown only to its owner.' },
          },
        ),
        { type: 'null' },
      ],
    },
    lastUsedAt: { ...timestampOrNull, description: 'When it was last used, up to a minute late.' },
  }),
} as const;

export type ApiKey = TypeOf<typeof keySchema>;

export const newKeySchema = {
  description: 'The key with its token. No later answer shows the token.',
  ...objectOf({
    ...keySchema.properties,
    token: {
      type: 'string',
      description:
        'Send it as `Authorization: Bearer <token>`. Only this answer shows it: store it now, and keep it secret.',
    },
  }),
} as const;

const newKeyReply = okBody({ key: newKeySchema });

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
    'Without revoked keys, and without tokens. With `workspaceId`, an owner of that workspace gets all keys that are limited to it, of every person.',
  tag: 'API keys',
  scope: 'admin',
  callers: ['graph'],
  query: {
    type: 'object',
    properties: {
      workspaceId: { ...uuid, description: 'Lists all keys that are limited to this workspace, for its owners.' },
    },
  },
  reply: {
    status: 200,
    description: 'Your active keys, without their tokens.',
    schema: okBody({ keys: { type: 'array', items: keySchema, description: 'Newest first.' } }),
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
    'Only this answer shows the token. When you use an expiring key for this request, the new key expires with it. When that key is revoked, the new key stays valid, unless both are revoked together (`includeMade`). A person creates at most ' +
    `${LIMITS.apiKeysPerMinuteMax} keys in a minute, by whichever way.`,
  tag: 'API keys',
  scope: 'admin',
  body: objectOf({ label }),
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
    'Revokes your own key, or one that is limited to a workspace you own. It stops working everywhere within a second, and its open sockets close.',
  tag: 'API keys',
  scope: 'admin',
  callers: ['graph'],
  params: objectOf({ keyId: { ...uuid, description: 'The `id` of the key, not its token.' } }),
  query: {
    type: 'object',
    properties: {
      includeMade: {
        type: 'string',
        enum: ['true', 'false'],
        default: 'false',
        description:
          '`true`: also revokes all keys that were made with it, and those made with these, and so on, even when the key itself is revoked already. Use this after a leak.',
      },
    },
  },
  reply: done('The key is revoked.'),
  errors: ['not_found', 'forbidden'],
});

export type NewApiKey = BodyOf<typeof internalCreateApiKey>;

/** Makes a key with all its options, for other services. Needs the caller's scope `admin` too. */
export const internalCreateApiKey = contract({
  id: 'internalCreateApiKey',
  method: 'POST',
  idempotencyKey: true,
  path: '/internal/api-keys',
  summary: 'Create an API key with chosen permissions',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['graph'] },
  body: objectOf(
    {
      label,
      permissions: { type: 'string', enum: KEY_PERMISSIONS },
    },
    {
      workspaceId: uuid,
      expiresAt: timestamp,
    },
  ),
  reply: { status: 201, schema: newKeyReply },
  errors: ['forbidden', 'not_found', 'conflict'],
});

import { contract } from './contract.ts';
import { UUID_PATTERN } from './ids.ts';

/** `read-only` keys hold the scope read, `full-access` keys all scopes. */
export const KEY_PERMISSIONS = ['read-only', 'full-access'] as const;
export type KeyPermissions = (typeof KEY_PERMISSIONS)[number];

export interface ApiKey {
  readonly id: string;
  readonly label: string;
  /** First characters of the token, to tell keys apart. */
  readonly keyPrefix: string;
  readonly permissions: KeyPermissions;
  /** Set when the key sees one workspace only. */
  readonly workspaceId: string | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  /** At most a minute behind. */
  readonly lastUsedAt: string | null;
}

const uuid = { type: 'string', pattern: UUID_PATTERN } as const;
const timestamp = { type: 'string', format: 'date-time' } as const;
const timestampOrNull = { type: ['string', 'null'], format: 'date-time' } as const;
const label = {
  type: 'string',
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  description: 'Not blank; length in Unicode code points.',
} as const;

const keyProperties = {
  id: uuid,
  label: { type: 'string' },
  keyPrefix: { type: 'string', description: 'First characters of the token.' },
  permissions: { type: 'string', enum: KEY_PERMISSIONS },
  workspaceId: { type: ['string', 'null'], description: 'Set when the key sees one workspace only.' },
  expiresAt: timestampOrNull,
  createdAt: timestamp,
  lastUsedAt: { ...timestampOrNull, description: 'At most a minute behind.' },
} as const;

const keySchema = {
  type: 'object',
  additionalProperties: false,
  required: Object.keys(keyProperties),
  properties: keyProperties,
} as const;

const newKeyReply = {
  type: 'object',
  additionalProperties: false,
  required: ['ok', 'key'],
  properties: {
    ok: { const: true },
    key: {
      ...keySchema,
      required: [...keySchema.required, 'token'],
      properties: { ...keyProperties, token: { type: 'string', description: 'Shown once; store it now.' } },
    },
  },
} as const;

const example = {
  id: '018f2a3b-8e3f-7b22-8c22-5b7daf9f4e32',
  label: 'ci',
  keyPrefix: 'wts_0Ab1Cd2E',
  permissions: 'full-access',
  workspaceId: null,
  expiresAt: null,
  createdAt: '2026-11-21T09:00:00.000Z',
  lastUsedAt: null,
} as const;

export const listApiKeys = contract<{ reply: { ok: true; keys: ApiKey[] } }>({
  id: 'listApiKeys',
  method: 'GET',
  path: '/api/auth/keys',
  summary: 'List your API keys',
  description: 'Revoked keys are left out; tokens are never shown again.',
  tag: 'API keys',
  scope: 'admin',
  reply: {
    status: 200,
    schema: {
      type: 'object',
      additionalProperties: false,
      required: ['ok', 'keys'],
      properties: { ok: { const: true }, keys: { type: 'array', items: keySchema } },
    },
    example: { ok: true, keys: [example] },
  },
  errors: ['forbidden'],
});

/** Keeps api-keys.create.label-only. */
export const createApiKey = contract<{
  body: { label: string };
  reply: { ok: true; key: ApiKey & { readonly token: string } };
}>({
  id: 'createApiKey',
  method: 'POST',
  idempotencyKey: true,
  path: '/api/auth/keys',
  summary: 'Create an API key with full access',
  description: 'The token is shown only here. A key made with a key that expires expires with it.',
  tag: 'API keys',
  scope: 'admin',
  body: { type: 'object', additionalProperties: false, required: ['label'], properties: { label } },
  reply: {
    status: 201,
    schema: newKeyReply,
    example: { ok: true, key: { ...example, token: 'wts_0Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3Ab4Cd5Ef6Gh7' } },
  },
  errors: ['forbidden', 'conflict', 'malformed_json', 'payload_too_large', 'unsupported_media_type'],
});

export const revokeApiKey = contract<{ params: { keyId: string }; reply: { ok: true } }>({
  id: 'revokeApiKey',
  method: 'DELETE',
  path: '/api/auth/keys/{keyId}',
  summary: 'Revoke an API key',
  description: 'Dead everywhere within a second; open sockets of the key close.',
  tag: 'API keys',
  scope: 'admin',
  params: {
    type: 'object',
    additionalProperties: false,
    required: ['keyId'],
    properties: { keyId: uuid },
  },
  reply: {
    status: 200,
    schema: { type: 'object', additionalProperties: false, required: ['ok'], properties: { ok: { const: true } } },
    example: { ok: true },
  },
  errors: ['not_found', 'forbidden'],
});

export interface NewApiKey {
  readonly label: string;
  readonly permissions: KeyPermissions;
  readonly workspaceId?: string;
  readonly expiresAt?: string;
}

/** The fuller way to make a key, for the doors that offer more than a label. Needs the caller's scope `admin` too. */
export const internalCreateApiKey = contract<{
  body: NewApiKey;
  reply: { ok: true; key: ApiKey & { readonly token: string } };
}>({
  id: 'internalCreateApiKey',
  method: 'POST',
  path: '/internal/api-keys',
  summary: 'Create an API key with chosen permissions',
  tag: 'Internal',
  scope: 'none',
  internal: true,
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

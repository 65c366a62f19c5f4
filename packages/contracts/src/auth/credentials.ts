import { contract } from '../contract.ts';
import { objectOf, okBody, timestamp, uuid } from '../parts.ts';
import type { Principal } from '../scopes.ts';
import { typed } from '../type-of.ts';

/*
 * Look-ups at the auth service, which knows every identity and every credential. Other services keep none of them, and cache
 * what they looked up for LIMITS.credentialCacheMs at most.
 */

/** The principal of an API key, found by its hash. */
export const internalResolveApiKey = contract({
  id: 'internalResolveApiKey',
  method: 'POST',
  path: '/internal/api-keys/resolve',
  summary: 'Principal of an API key, by its hash; null when unknown, revoked or expired',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['gateway', 'sync'], forItself: true },
  body: objectOf({ tokenHash: { type: 'string', pattern: '^[0-9a-f]{64}$' } }),
  reply: { status: 200, schema: okBody({ principal: typed<Principal | null>({ type: ['object', 'null'] }) }) },
  errors: [],
});

/** The person of a verified JWT; created when they are new. */
export const internalResolvePerson = contract({
  id: 'internalResolvePerson',
  method: 'POST',
  path: '/internal/people/resolve',
  summary: 'Person of an identity; creates the person when the identity is new',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['gateway', 'sync'], forItself: true },
  body: objectOf(
    {
      issuer: { type: 'string', minLength: 1, maxLength: 2048 },
      subject: { type: 'string', minLength: 1, maxLength: 255 },
    },
    {
      name: { type: 'string' },
      email: { type: 'string' },
      emailVerified: { type: 'boolean' },
      avatarUrl: { type: 'string' },
    },
  ),
  reply: { status: 200, schema: okBody({ userId: uuid }) },
  /** `forbidden`: the person is disabled. */
  errors: ['forbidden'],
});

/** The addresses of a person that are verified, which invitations are compared with. */
export const internalListAddresses = contract({
  id: 'internalListAddresses',
  method: 'POST',
  path: '/internal/people/addresses',
  summary: 'Verified addresses of a person',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['workspace'], forItself: true },
  body: objectOf({ userId: uuid }),
  reply: { status: 200, schema: okBody({ addresses: { type: 'array', items: { type: 'string' } } }) },
  errors: [],
});

/** Refuses a person without a second factor for a workspace that requires one. */
export const internalCheckJoining = contract({
  id: 'internalCheckJoining',
  method: 'POST',
  path: '/internal/people/joining',
  summary: 'Whether a person may join a workspace: 403 when it requires a second factor that they lack',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['workspace'], forItself: true },
  body: objectOf({ userId: uuid, workspaceId: uuid }),
  reply: { status: 200, schema: okBody({}) },
  errors: [],
});

/** Credentials per page of `internalListRevokedCredentials`. */
export const REVOKED_CREDENTIALS_PAGE = 1000;

/**
 * The credentials revoked after a time, oldest first, for callers that cannot rely on messages, which may be lost. Times are those of
 * the database: the next call begins at `at` of this reply. After a reply of REVOKED_CREDENTIALS_PAGE credentials there may be more:
 * call again from the last one.
 */
export const internalListRevokedCredentials = contract({
  id: 'internalListRevokedCredentials',
  method: 'POST',
  path: '/internal/credentials/revoked',
  summary: 'Credentials revoked after a moment; without one, the moment alone',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['sync'], forItself: true },
  body: { type: 'object', additionalProperties: false, properties: { since: timestamp, afterId: uuid } },
  reply: {
    status: 200,
    schema: okBody({
      at: timestamp,
      credentials: {
        type: 'array',
        items: objectOf({
          id: uuid,
          userId: uuid,
          revokedAt: timestamp,
          isAll: { type: 'boolean', description: 'All credentials of the person; the id names none.' },
        }),
      },
    }),
  },
  errors: [],
});

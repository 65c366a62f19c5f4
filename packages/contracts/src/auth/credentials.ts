import { contract, internalOf } from '../contract.ts';
import { objectOf, okBody, timestamp, uuid } from '../parts.ts';
import type { Principal } from '../scopes.ts';
import { typed } from '../type-of.ts';

/*
 * Look-ups at the auth service, which knows every identity and every credential. Other services keep none of them, and cache
 * what they looked up for LIMITS.credentialCacheMs at most.
 */

/** The principal of an API key, found by its hash. */
export const internalResolveApiKey = contract({
  ...internalOf('gateway', 'sync'),
  id: 'internalResolveApiKey',
  path: '/internal/api-keys/resolve',
  summary: 'Principal of an API key, by its hash; null when unknown, revoked or expired',
  body: objectOf({ tokenHash: { type: 'string', pattern: '^[0-9a-f]{64}$' } }),
  reply: { status: 200, schema: okBody({ principal: typed<Principal | null>({ type: ['object', 'null'] }) }) },
});

/** The person of a verified JWT; created when they are new. */
export const internalResolvePerson = contract({
  ...internalOf('gateway', 'sync'),
  id: 'internalResolvePerson',
  path: '/internal/people/resolve',
  summary: 'Person of an identity; creates the person when the identity is new',
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
  ...internalOf('workspace'),
  id: 'internalListAddresses',
  path: '/internal/people/addresses',
  summary: 'Verified addresses of a person',
  body: objectOf({ userId: uuid }),
  reply: { status: 200, schema: okBody({ addresses: { type: 'array', items: { type: 'string' } } }) },
});

/** Refuses a person without a second factor for a workspace that requires one. */
export const internalCheckJoining = contract({
  ...internalOf('workspace'),
  id: 'internalCheckJoining',
  path: '/internal/people/joining',
  summary: 'Whether a person may join a workspace: 403 when it requires a second factor that they lack',
  body: objectOf({ userId: uuid, workspaceId: uuid }),
  reply: { status: 200, schema: okBody({}) },
});

/** Credentials per page of `internalListRevokedCredentials`. */
export const REVOKED_CREDENTIALS_PAGE = 1000;

/**
 * The credentials revoked after a time, oldest first, for callers that cannot rely on messages, which may be lost. Times are those of
 * the database: the next call begins at `at` of this reply. After a reply of REVOKED_CREDENTIALS_PAGE credentials there may be more:
 * call again from the last one.
 */
export const internalListRevokedCredentials = contract({
  ...internalOf('sync'),
  id: 'internalListRevokedCredentials',
  path: '/internal/credentials/revoked',
  summary: 'Credentials revoked after a moment; without one, the moment alone',
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
});

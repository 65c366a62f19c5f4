import { contract } from '../contract.ts';
import { okBody, uuid } from '../parts.ts';
import type { Scope } from '../scopes.ts';
import { typed } from '../type-of.ts';

/** The scopes that a person can grant to a client: all but `admin`. Keeps authentication.scopes.admin-api-keys-only. */
export const GRANT_SCOPES = ['read', 'write'] as const satisfies readonly Scope[];
export type GrantScope = (typeof GRANT_SCOPES)[number];

/** What a person allowed a client, which every access token of the grant is held to. */
export interface ResolvedGrant {
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: readonly GrantScope[];
}

/** The grant of an access token, by its claim `gid`. */
export const internalResolveGrant = contract({
  id: 'internalResolveGrant',
  method: 'POST',
  path: '/internal/grants/resolve',
  summary: 'A grant, by its id; null when unknown, revoked or expired',
  tag: 'Internal',
  scope: 'none',
  internal: { callers: ['gateway', 'sync'], forItself: true },
  body: {
    type: 'object',
    additionalProperties: false,
    required: ['grantId'],
    properties: { grantId: uuid },
  },
  reply: { status: 200, schema: okBody({ grant: typed<ResolvedGrant | null>({ type: ['object', 'null'] }) }) },
  errors: [],
});

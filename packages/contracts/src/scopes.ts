/** What a credential may do. `write` includes `read`; `admin` includes both. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export const ROLES = ['owner', 'admin', 'member', 'guest'] as const;
export type Role = (typeof ROLES)[number];

/** What the roles are for, in the words of the description; the exact table is in `@wts/access`. */
export const ROLES_DESCRIBED =
  '`owner`: everything, owners included. `admin`: members, invitations, teams and webhooks. `member`: all work items. `guest`: reads, comments, and changes the tasks they created or are assigned.';

/** The caller, as every service sees it. Minted by the gateway, carried in the internal token. */
export interface Principal {
  readonly userId: string;
  readonly scopes: readonly Scope[];
  readonly credential: { readonly kind: 'api_key' | 'jwt' | 'oauth' | 'service'; readonly id: string };
  /** Set when the credential is restricted to one workspace. */
  readonly workspaceId?: string;
  /** Unix seconds after which the credential is dead; absent when it does not expire on a timer. */
  readonly expiresAt?: number;
}

/** What a credential may do. `write` includes `read`; `admin` includes both. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export const ROLES = ['owner', 'admin', 'member', 'guest'] as const;
export type Role = (typeof ROLES)[number];

/** The roles in words, for the description; the exact table is in `@wts/access`. */
export const ROLES_DESCRIBED =
  '`owner`: everything, owners included. `admin`: members, invitations, teams and webhooks. `member`: all work items. `guest`: reads, comments, and changes the tasks they created or are assigned.';

/** What authenticates a caller: an API key, a session, a grant of an OAuth client, or a service itself. */
export const CREDENTIAL_KINDS = ['api_key', 'jwt', 'oauth', 'service'] as const;
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number];

/** The caller, in every service. The gateway writes it into the internal token. */
export interface Principal {
  readonly userId: string;
  readonly scopes: readonly Scope[];
  readonly credential: { readonly kind: CredentialKind; readonly id: string };
  /** Set when the credential is restricted to one workspace. */
  readonly workspaceId?: string;
  /** When the credential expires, in Unix seconds; absent when it does not expire. */
  readonly expiresAt?: number;
}

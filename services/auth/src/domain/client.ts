export const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post'] as const;
export const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;
export type GrantType = (typeof GRANT_TYPES)[number];

/** A program that asks a person for access. */
export interface Client {
  readonly id: string;
  /** SHA-256 of its secret; null for a public client. */
  readonly secretHash: Buffer | null;
  /** As the client calls itself; null when it has no name. */
  readonly name: string | null;
  readonly redirectUris: readonly string[];
  readonly authMethod: (typeof AUTH_METHODS)[number];
  readonly grantTypes: readonly GrantType[];
  readonly applicationType: string | null;
}

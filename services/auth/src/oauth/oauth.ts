import { apiResourceOf, issuerOf, mcpResourceOf } from '@wts/access';
import type { RevocationSender } from '@wts/service-kit/nats';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';
import { clientStore } from '../store/clients.ts';
import type { ClientStore } from '../store/clients.ts';
import { grantStore } from '../store/grants.ts';
import type { GrantStore } from '../store/grants.ts';
import { signingKeyStore } from '../store/signing-keys.ts';
import { openGrants } from './grants.ts';
import type { Grants } from './grants.ts';
import { openSigningKeys } from './signing-keys.ts';
import type { SigningKeys } from './signing-keys.ts';

/** The authorization server: what its endpoints use, opened once. */
export interface OAuth {
  readonly issuer: string;
  /** The API, then the agent endpoint. */
  readonly resources: readonly [api: string, mcp: string];
  readonly clients: ClientStore;
  readonly grants: Grants;
  readonly grantStore: GrantStore;
  readonly keys: SigningKeys;
  readonly refreshGraceMs: number;
}

interface OAuthOptions {
  readonly baseUrl: string;
  readonly authUrl: string;
  /** AUTH_SECRET_KEY. */
  readonly secretKey: string;
  readonly keyRotationMs: number;
  readonly refreshGraceMs: number;
  readonly knex: Knex;
  readonly revoke: RevocationSender;
}

export function openOAuth({ baseUrl, authUrl, knex, revoke, ...options }: OAuthOptions): OAuth {
  const store = grantStore(knex);
  return {
    issuer: issuerOf(authUrl),
    resources: [apiResourceOf(baseUrl), mcpResourceOf(authUrl)],
    clients: clientStore(knex),
    grants: openGrants(store, revoke),
    grantStore: store,
    keys: openSigningKeys({
      store: signingKeyStore(knex),
      secretKeys: parseSecretKeys(options.secretKey),
      rotationMs: options.keyRotationMs,
    }),
    refreshGraceMs: options.refreshGraceMs,
  };
}

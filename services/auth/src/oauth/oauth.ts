import { apiResourceOf, issuerOf, mcpResourceOf } from '@wts/access';
import type { Revocation } from '@wts/contracts';
import type { Knex } from 'knex';
import { clientStore } from '../store/clients.ts';
import type { ClientStore } from '../store/clients.ts';
import { grantStore } from '../store/grants.ts';
import type { GrantStore } from '../store/grants.ts';
import { openGrants } from './grants.ts';
import type { Grants } from './grants.ts';

/** The authorization server: what its endpoints use, opened once. */
export interface OAuth {
  readonly issuer: string;
  /** The API, then the agent endpoint. */
  readonly resources: readonly [api: string, mcp: string];
  readonly clients: Pick<ClientStore, 'find' | 'insert'>;
  readonly grants: Grants;
  readonly grantStore: GrantStore;
}

interface OAuthOptions {
  readonly baseUrl: string;
  readonly authUrl: string;
  readonly knex: Knex;
  readonly revoke: (revocation: Revocation) => Promise<void>;
}

export function openOAuth({ baseUrl, authUrl, knex, revoke }: OAuthOptions): OAuth {
  const store = grantStore(knex);
  return {
    issuer: issuerOf(authUrl),
    resources: [apiResourceOf(baseUrl), mcpResourceOf(authUrl)],
    clients: clientStore(knex),
    grants: openGrants(store, revoke),
    grantStore: store,
  };
}

import { issuerOf } from '@wts/access';
import { addressGuard, openResolver } from '@wts/service-kit/egress';
import type { RevocationSender } from '@wts/service-kit/nats';
import type { Logger } from '@wts/service-kit/observe';
import { parseSecretKeys } from '@wts/service-kit/sealing';
import type { Knex } from 'knex';
import type { Config } from '../config.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import type { Client } from '../domain/client.ts';
import { clientStore, type ClientStore } from '../store/clients.ts';
import { grantStore, type GrantStore } from '../store/grants.ts';
import { signingKeyStore } from '../store/signing-keys.ts';
import { isDocumentAddress, openClientDocuments, type Sender } from './client-documents.ts';
import { openGrants, type Grants } from './grants.ts';
import { Resources, type CellAddress } from './resources.ts';
import { openSigningKeys, type SigningKeys } from './signing-keys.ts';

export type FindClient = (clientId: string, sender: Sender) => Promise<Client | null>;

/** The authorization server: what its endpoints use, opened once. */
export interface OAuth extends Pick<Config, 'hasClientDocuments' | 'clientRegistration' | 'refreshGraceMs'> {
  readonly issuer: string;
  readonly resources: Resources;
  readonly clients: Pick<ClientStore, 'deleteUnused' | 'list'>;
  readonly record: SecurityRecord;
  /** A registered client, or one that its document describes. Rejects with `unavailable` when the host of the document fails. */
  readonly findClient: FindClient;
  readonly grants: Grants;
  readonly grantStore: GrantStore;
  readonly keys: SigningKeys;
}

interface OAuthOptions {
  readonly config: Config;
  readonly cells: readonly CellAddress[];
  readonly knex: Knex;
  readonly record: SecurityRecord;
  readonly revoke: RevocationSender;
  readonly log: Logger;
}

export function openOAuth({ config, cells, knex, record, revoke, log }: OAuthOptions): OAuth {
  const { authUrl, hasClientDocuments, clientRegistration, refreshGraceMs } = config;
  const store = grantStore(knex);
  const clients = clientStore(knex);
  return {
    issuer: issuerOf(authUrl),
    resources: new Resources(cells, authUrl),
    clients,
    record,
    findClient: hasClientDocuments
      ? finderWithDocuments(clients, clientRegistration)
      : (clientId) => clients.find(clientId),
    hasClientDocuments,
    clientRegistration,
    refreshGraceMs,
    grants: openGrants({ store, record, revoke, log }),
    grantStore: store,
    keys: openSigningKeys({
      store: signingKeyStore(knex),
      secretKeys: parseSecretKeys(config.secretKey),
      rotationMs: config.keyRotationMs,
    }),
  };
}

/** Where registration is closed, the document of a client counts when an operator has listed its address. */
function finderWithDocuments(clients: ClientStore, registration: Config['clientRegistration']): FindClient {
  const documents = openClientDocuments({ guard: addressGuard(), resolver: openResolver({ servers: [] }) });
  return async (clientId, sender) => {
    if (!isDocumentAddress(clientId)) return clients.find(clientId);
    const isAllowed = registration === 'open' || (await clients.isByOperator(clientId));
    return isAllowed ? documents.find(clientId, sender) : null;
  };
}

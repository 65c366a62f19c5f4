import type { Knex } from 'knex';
import { accountStore, type AccountStore } from './accounts.ts';
import { apiKeyStore, type ApiKeyStore } from './api-keys.ts';
import { clientStore, type ClientStore } from './clients.ts';
import { connectCodeStore, type ConnectCodeStore } from './connect-codes.ts';
import { disabledPeople, type DisabledPeople } from './disabled-people.ts';
import { eventStore, type EventStore } from './events.ts';
import { grantStore, type GrantStore } from './grants.ts';
import { secondFactorStore, type FactorOptions, type SecondFactorStore } from './second-factors.ts';
import { sessionStore, type SessionStore } from './sessions.ts';
import { workspacePolicyStore, type WorkspacePolicyStore } from './workspace-policies.ts';

/** The stores that an act may write to in one transaction. */
export interface Stores {
  readonly accounts: AccountStore;
  readonly clients: ClientStore;
  readonly connectCodes: ConnectCodeStore;
  readonly disabled: DisabledPeople;
  readonly events: EventStore;
  readonly factors: SecondFactorStore;
  readonly grants: GrantStore;
  readonly keys: ApiKeyStore;
  readonly policies: WorkspacePolicyStore;
  readonly sessions: SessionStore;
}

export interface StoreOptions extends FactorOptions {
  readonly hasAccounts: boolean;
  readonly apiKeysPerMinuteMax: number;
}

/** On a pool, or within a transaction. */
export function openStores(knex: Knex, options: StoreOptions): Stores {
  return {
    accounts: accountStore(knex),
    clients: clientStore(knex),
    connectCodes: connectCodeStore(knex),
    disabled: disabledPeople(knex),
    events: eventStore(knex),
    factors: secondFactorStore(knex, options),
    grants: grantStore(knex),
    keys: apiKeyStore(knex, options.apiKeysPerMinuteMax),
    policies: workspacePolicyStore(knex),
    sessions: sessionStore(knex, options),
  };
}

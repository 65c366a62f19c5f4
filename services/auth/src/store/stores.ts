import type { Knex } from 'knex';
import { accountStore } from './accounts.ts';
import { apiKeyStore } from './api-keys.ts';
import { clientStore } from './clients.ts';
import { connectCodeStore } from './connect-codes.ts';
import { disabledPeople } from './disabled-people.ts';
import { eventStore } from './events.ts';
import { grantStore } from './grants.ts';
import { secondFactorStore, type FactorOptions } from './second-factors.ts';
import { sessionStore } from './sessions.ts';
import { workspacePolicyStore } from './workspace-policies.ts';

/** The stores that an act may write to in one transaction. */
export type Stores = ReturnType<typeof openStores>;

export interface StoreOptions extends FactorOptions {
  readonly hasAccounts: boolean;
  readonly apiKeysPerMinuteMax: number;
}

/** On a pool, or within a transaction. */
export function openStores(knex: Knex, options: StoreOptions) {
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

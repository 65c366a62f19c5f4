import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { testDatabase } from '@wts/testkit';
import type { Knex } from 'knex';
import { openGrants, type Grants } from '../src/oauth/grants.ts';
import { openSecurityRecord, type SecurityRecord } from '../src/record/security-record.ts';
import { grantStore } from '../src/store/grants.ts';

export interface TestStore extends AsyncDisposable {
  /** With the rights of this service and no more. */
  readonly knex: Knex;
  readonly url: string;
}

/** A database of a test's own, with the tables of every service. */
export async function openTestStore(label: string): Promise<TestStore> {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await testDatabase(label, { migrated: true }));
  const url = database.urlOf('wts_auth');
  const log = createLogger({ name: 'test', level: 'warn' });
  const { knex } = openPostgres({ url, poolMax: 10, applicationName: 'test', log, stack });
  return { knex, url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

export function openTestRecord(knex: Knex): SecurityRecord {
  const log = createLogger({ name: 'test', level: 'warn' });
  const metrics = { event: () => undefined };
  return openSecurityRecord(knex, {
    hasAccounts: true,
    apiKeysPerMinuteMax: 120,
    workspacesOf: async () => ({ ids: [], away: [] }),
    log,
    metrics,
  });
}

/** Grants whose revocations no other service learns. */
export function openTestGrants(knex: Knex): Grants {
  const log = createLogger({ name: 'test', level: 'warn' });
  return openGrants({ store: grantStore(knex), record: openTestRecord(knex), revoke: async () => undefined, log });
}

import { createLogger } from '@wts/service-kit/observe';
import { openPostgres } from '@wts/service-kit/postgres';
import { testDatabase } from '@wts/testkit';
import type { Knex } from 'knex';

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

import type { TestDatabase } from '@wts/testkit';
import { Client } from 'pg';

/**
 * The clock of PostgreSQL in a test: `now()` of the sessions of sync that begin after it was opened. They find a function of this name
 * before that of PostgreSQL, so the statements of the service are the real ones.
 */
export class DatabaseClock implements AsyncDisposable {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async open({ url }: TestDatabase, now: string): Promise<DatabaseClock> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`
      create schema clock;
      create table clock.shift (by interval not null);
      insert into clock.shift values ('0');
      create function clock.now() returns timestamptz language sql stable as 'select pg_catalog.now() + (select by from clock.shift)';
      grant usage on schema clock to wts_sync;
      grant select on clock.shift to wts_sync;
      do $$ begin
        execute format('alter role wts_sync in database %I set search_path = clock, pg_catalog, sync', current_database());
      end $$`);
    const clock = new DatabaseClock(client);
    await clock.set(now);
    return clock;
  }

  async set(now: string): Promise<void> {
    await this.#client.query('update clock.shift set by = $1::timestamptz - pg_catalog.now()', [now]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

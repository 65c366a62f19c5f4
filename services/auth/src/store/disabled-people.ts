import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { ACCOUNT_ISSUER } from './accounts.ts';

/**
 * The condition that no operator has disabled a person; `userId` is SQL. Every statement that makes a person of a credential has it: of a
 * session, an API key, a grant, and an identity. So a credential that was made while its person was being disabled does not work either.
 * Primary key of disabled_people.
 */
export function isEnabledSql(userId: string): string {
  return `not exists (select from auth.disabled_people disabled where disabled.user_id = ${userId})`;
}

export interface DisabledPeople {
  /** False when the person is disabled already. */
  insert(person: { readonly userId: string; readonly id: string }): Promise<boolean>;
  /** False when the person is not disabled, or erased. */
  delete(userId: string): Promise<boolean>;
  find(userId: string): Promise<{ readonly isErased: boolean } | null>;
  /** Deletes everything by which a disabled person signed in. Run it in a transaction. */
  erase(userId: string): Promise<void>;
}

export function disabledPeople(knex: Knex): DisabledPeople {
  return {
    insert: async ({ userId, id }) => {
      const sql = `insert into auth.disabled_people (user_id, id) values (:userId, :id)
        on conflict (user_id) do nothing returning id`;
      return (await rows(knex, sql, { userId, id })).length > 0;
    },
    delete: async (userId) => {
      const sql = `delete from auth.disabled_people where user_id = :userId and erased_at is null returning id`;
      return (await rows(knex, sql, { userId })).length > 0;
    },
    find: (userId) => {
      const sql = `select erased_at is not null as "isErased" from auth.disabled_people where user_id = :userId`;
      return firstRow(knex, sql, { userId });
    },
    // What belongs to an account is deleted with it, codes with their grants.
    erase: async (userId) => {
      const theirs = `select lower(email) from auth.identities where user_id = :userId and email is not null`;
      await rows(knex, `delete from auth.mails where user_id = :userId or lower(recipient) in (${theirs})`, { userId });
      await rows(knex, `delete from auth.mail_links where lower(address) in (${theirs})`, { userId });
      for (const table of ['sessions', 'api_keys', 'grants', 'connect_codes'])
        await rows(knex, `delete from auth.${table} where user_id = :userId`, { userId });
      const accounts = `delete from auth.accounts where id::text in (
        select subject from auth.identities where user_id = :userId and issuer = :issuer)`;
      await rows(knex, accounts, { userId, issuer: ACCOUNT_ISSUER });
      await rows(knex, `delete from auth.identities where user_id = :userId`, { userId });
      await rows(knex, `update auth.disabled_people set erased_at = now() where user_id = :userId`, { userId });
    },
  };
}

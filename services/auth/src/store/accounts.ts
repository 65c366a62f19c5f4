import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/**
 * The issuer of the identities of accounts; their subject is the id of the account. No URL, so that no identity provider has the same,
 * and no change of AUTH_URL gives people a second person.
 */
export const ACCOUNT_ISSUER = 'wts:accounts';

/** A person who signs in here by password. */
export interface Account {
  readonly id: string;
  /** As its owner wrote it. */
  readonly email: string;
  readonly name: string;
  readonly emailVerified: boolean;
  readonly passwordHash: string;
}

export interface NewAccount extends Account {
  /** The address in the form in which addresses are compared. */
  readonly comparableEmail: string;
}

export interface AccountStore {
  findByEmail(comparableEmail: string): Promise<Account | null>;
  /** Null also without an id, which a person of an identity provider does not have. */
  find(id: string | null): Promise<Account | null>;
  /** False when the address has an account. */
  insert(account: NewAccount): Promise<boolean>;
  /** False when the password was changed meanwhile. */
  changePassword(id: string, change: { readonly from: string; readonly to: string }): Promise<boolean>;
}

const COLUMNS = `id, shown_email as email, name, email_verified as "emailVerified", password_hash as "passwordHash"`;

export function accountStore(knex: Knex): AccountStore {
  return {
    // Unique index accounts (email).
    findByEmail: (comparableEmail) =>
      firstRow(knex, `select ${COLUMNS} from auth.accounts where email = :comparableEmail`, { comparableEmail }),
    find: async (id) =>
      id === null ? null : firstRow(knex, `select ${COLUMNS} from auth.accounts where id = :id`, { id }),
    insert: async ({ id, comparableEmail, email, name, emailVerified, passwordHash }) => {
      const sql = `insert into auth.accounts (id, email, shown_email, name, email_verified, password_hash)
        values (:id, :comparableEmail, :email, :name, :emailVerified, :passwordHash)
        on conflict (email) do nothing returning id`;
      const values = { id, comparableEmail, email, name, emailVerified, passwordHash };
      return (await rows(knex, sql, values)).length > 0;
    },
    changePassword: async (id, { from, to }) => {
      const sql = `update auth.accounts set password_hash = :to where id = :id and password_hash = :from returning id`;
      return (await rows(knex, sql, { id, from, to })).length > 0;
    },
  };
}

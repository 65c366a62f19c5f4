import { Fault } from '@wts/contracts';
import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { IdentityClaims } from '../domain/profile.ts';
import { sha256 } from '../domain/sha256.ts';
import { ACCOUNT_ISSUER } from './accounts.ts';
import { isEnabledSql } from './disabled-people.ts';

export type IdentityKey = Pick<IdentityClaims, 'issuer' | 'subject'>;

export interface StoredIdentity {
  readonly userId: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** False until a commit of the person has succeeded. */
  readonly hasPerson: boolean;
  /** False for a person whom an operator disabled. */
  readonly isEnabled: boolean;
}

type Address = Pick<StoredIdentity, 'email' | 'emailVerified'>;

export interface IdentityStore {
  find(identity: IdentityKey): Promise<StoredIdentity | null>;
  /**
   * Assigns the identity to `userId` unless it is assigned already. Returns the person it belongs to. That of an account needs the account, whose
   * row is locked: a sign-in that began before the erasure of its person would make another one with the name and address.
   */
  claim(identity: IdentityKey, userId: string, address: Address): Promise<string>;
  /** True for the first of several callers. */
  markPersonCreated(identity: IdentityKey): Promise<boolean>;
  changeAddress(identity: IdentityKey, address: Address): Promise<void>;
  /** Whether another person has the address, in any case. */
  isOfAnother(email: string, userId: string): Promise<boolean>;
  /** The addresses of a person that their providers verified. */
  addressesOf(userId: string): Promise<string[]>;
}

export function identityStore(knex: Knex): IdentityStore {
  return {
    find: (identity) => {
      const sql = `select user_id as "userId", email, email_verified as "emailVerified",
        person_created_at is not null as "hasPerson", ${isEnabledSql('i.user_id')} as "isEnabled"
        from auth.identities i where identity_hash = :hash`;
      return firstRow(knex, sql, { hash: hashOf(identity) });
    },
    claim: async (identity, userId, { email, emailVerified }) => {
      const { issuer, subject } = identity;
      const hash = hashOf(identity);
      // When the insert conflicts, its snapshot does not have the other row: a second statement reads it.
      const isAccount = issuer === ACCOUNT_ISSUER;
      const owner = isAccount ? `select from auth.accounts where id = cast(:subject as uuid) for share` : 'select';
      const sql = `with owner as (${owner})
        insert into auth.identities (identity_hash, issuer, subject, user_id, email, email_verified)
        select :hash, :issuer, :subject, :userId, :email, :emailVerified from owner
        on conflict (identity_hash) do nothing`;
      await rows(knex, sql, { hash, issuer, subject, userId, email, emailVerified });
      const select = `select user_id as "userId" from auth.identities where identity_hash = :hash`;
      const winner = await firstRow<{ userId: string }>(knex, select, { hash });
      if (!winner && isAccount) throw new Fault('forbidden', { message: 'This account does not exist any more.' });
      if (!winner) throw new Error('An identity vanished between its claim and its reading');
      return winner.userId;
    },
    markPersonCreated: async (identity) => {
      const sql = `update auth.identities set person_created_at = now()
        where identity_hash = :hash and person_created_at is null returning user_id`;
      return (await rows(knex, sql, { hash: hashOf(identity) })).length > 0;
    },
    changeAddress: async (identity, { email, emailVerified }) => {
      const sql = `update auth.identities set email = :email, email_verified = :emailVerified
        where identity_hash = :hash`;
      await rows(knex, sql, { hash: hashOf(identity), email, emailVerified });
    },
    // Index identities (md5(lower(email))).
    isOfAnother: async (email, userId) => {
      const sql = `select from auth.identities where md5(lower(email)) = md5(lower(:email)) and lower(email) = lower(:email)
        and user_id <> :userId limit 1`;
      return (await rows(knex, sql, { email, userId })).length > 0;
    },
    // Index identities (user_id).
    addressesOf: async (userId) => {
      const sql = `select email from auth.identities
        where user_id = :userId and email is not null and email_verified order by issuer = '${ACCOUNT_ISSUER}' desc, created_at`;
      return (await rows<{ email: string }>(knex, sql, { userId })).map(({ email }) => email);
    },
  };
}

/** Begins with the length of the issuer, so that no two pairs give the same text. */
function hashOf({ issuer, subject }: IdentityKey): Buffer {
  return sha256(`${issuer.length}:${issuer}${subject}`);
}

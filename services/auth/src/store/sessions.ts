import { firstRow, rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import type { Visitor } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { DELETED_AT_ONCE, deleteSome } from './delete-some.ts';
import { isEnabledSql } from './disabled-people.ts';
import { hasFactorSql } from './second-factors.ts';

/** A browser in which a person is signed in. Keeps authentication.sessions.end. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  /** Null after a sign-in at the identity provider. */
  readonly accountId: string | null;
  readonly name: string;
  readonly email: string | null;
  /** When the person signed in. */
  readonly createdAt: Date;
  /** Null for a session from before this was stored. */
  readonly method: SessionMethod | null;
  /** The person proved who they are so recently that they are not asked again. */
  readonly isConfirmed: boolean;
  /** A second factor is required of the person, and the account has none: only the pages that add one are open. */
  readonly lacksFactor: boolean;
}

/** What of a session is stored here. */
export interface StoredSession extends Omit<Session, 'name' | 'email' | 'lacksFactor'> {
  /** An account without a second factor. */
  readonly hasNoFactor: boolean;
}

/** How a session began. */
export type SessionMethod =
  | 'password'
  | 'password and code'
  | 'password and recovery code'
  | 'password and passkey'
  | 'passkey'
  | 'provider';

export interface NewSession {
  readonly id: string;
  readonly secretHash: Buffer;
  readonly userId: string;
  /** The account, with the hash of the password that was right; null after a sign-in at the identity provider. */
  readonly account: { readonly id: string; readonly passwordHash: string } | null;
  readonly visitor: Visitor;
  /** Without one: by a password alone, or at the provider. */
  readonly method?: SessionMethod;
}

/** A session in the list of its person. */
export interface ListedSession {
  readonly id: string;
  readonly browser: string | null;
  /** Where the person signed in, and where the session was used last. */
  readonly network: string | null;
  readonly lastNetwork: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

export interface SessionStore {
  /** Null when it ended, was not used for too long, or its person is disabled. A read counts as a use, from this network. */
  find(secretHash: Buffer, network?: string | null): Promise<StoredSession | null>;
  /** The last used first. */
  listOf(userId: string): Promise<ListedSession[]>;
  /**
   * False when the person is disabled, when the password was changed since it was checked, and for a password alone when the account has a
   * second factor. The account stays locked until the session exists, so a change of the password either ends the session or comes first.
   * Keeps authentication.factors.second-step.
   */
  insert(session: NewSession): Promise<boolean>;
  /** The person proved again who they are. */
  confirm(id: string): Promise<void>;
  end(id: string): Promise<void>;
  /** Returns the ids of those that ended; `except` stays. */
  endAllOf(userId: string, except?: string): Promise<string[]>;
}

/** Sessions with their people: without a session for a person who does not exist. */
export interface Sessions extends Omit<SessionStore, 'find'> {
  find(secretHash: Buffer, network?: string | null): Promise<Session | null>;
}

/** Of no session. */
const NO_ID = '00000000-0000-0000-0000-000000000000';
/** How exactly the last use is stored. */
const USE_SECONDS = 600;

const IS_LIVE = `s.last_used_at > now() - make_interval(secs => ${AUTH_LIMITS.sessionIdleMs / 1000})
  and s.created_at > now() - make_interval(secs => ${AUTH_LIMITS.sessionMs / 1000}) and ${isEnabledSql('s.user_id')}`;

interface Options {
  /** Without accounts no session that began with a password is one. Keeps authentication.accounts.off. */
  readonly hasAccounts: boolean;
}

export function sessionStore(knex: Knex, { hasAccounts }: Options): SessionStore {
  const isLive = hasAccounts ? IS_LIVE : `${IS_LIVE} and s.account_id is null`;
  return {
    // Unique index sessions (secret_hash). Both parts of the statement read the same snapshot.
    find: (secretHash, network = null) => {
      const sql = `with used as (
          update auth.sessions s set last_used_at = now(), last_network = coalesce(:network, s.last_network)
          where s.secret_hash = :secretHash and ${isLive} and (s.last_used_at < now() - make_interval(secs => ${USE_SECONDS})
            or s.last_network <> cast(:network as text))
        )
        select s.id, s.user_id as "userId", s.account_id as "accountId", s.created_at as "createdAt", s.method,
          coalesce(s.confirmed_at, s.created_at) > now() - make_interval(secs => ${AUTH_LIMITS.confirmedMs / 1000}) as "isConfirmed",
          s.account_id is not null and not ${hasFactorSql('s.account_id')} as "hasNoFactor"
        from auth.sessions s where s.secret_hash = :secretHash and ${isLive}`;
      return firstRow(knex, sql, { secretHash, network });
    },
    // Index sessions (user_id).
    listOf: (userId) => {
      const sql = `select s.id, s.browser, s.network, s.last_network as "lastNetwork", s.created_at as "createdAt",
          s.last_used_at as "lastUsedAt"
        from auth.sessions s where s.user_id = :userId and ${isLive} order by s.last_used_at desc, s.id`;
      return rows<ListedSession>(knex, sql, { userId });
    },
    insert: async ({ id, secretHash, userId, account, visitor: { network, browser }, method = methodOf(account) }) => {
      const owner =
        account === null
          ? `select cast(null as uuid) as id`
          : `select id from auth.accounts where id = :accountId and password_hash = :passwordHash
              ${method === 'password' ? `and not ${hasFactorSql('id')}` : ''} for share`;
      const sql = `with owner as (${owner})
        insert into auth.sessions (id, secret_hash, user_id, account_id, network, browser, last_network, method)
        select :id, :secretHash, :userId, owner.id, cast(:network as text), :browser, cast(:network as text), :method
        from owner where ${isEnabledSql(':userId')} returning id`;
      const by = account === null ? {} : { accountId: account.id, passwordHash: account.passwordHash };
      const values = { id, secretHash, userId, network, browser, method, ...by };
      if ((await rows(knex, sql, values)).length === 0) return false;
      // Index sessions (user_id).
      const excess = `delete from auth.sessions where id in (select id from auth.sessions where user_id = :userId
        order by last_used_at desc, created_at desc offset ${AUTH_LIMITS.sessionsPerPersonMax})`;
      await rows(knex, excess, { userId });
      // Index sessions (last_used_at). A session that is too old and in use ends by `find`, and is deleted when it is idle.
      const where = `last_used_at < now() - make_interval(secs => ${AUTH_LIMITS.sessionIdleMs / 1000})`;
      await deleteSome(knex, { table: 'sessions', where, oldestBy: 'last_used_at', most: DELETED_AT_ONCE });
      return true;
    },
    confirm: async (id) => {
      await rows(knex, `update auth.sessions set confirmed_at = now() where id = :id`, { id });
    },
    end: async (id) => {
      await rows(knex, `delete from auth.sessions where id = :id`, { id });
    },
    endAllOf: (userId, except) => endSessionsOf(knex, userId, except),
  };
}

/** Returns the ids of those that ended; `except` stays. */
export async function endSessionsOf(knex: Knex, userId: string, except = NO_ID): Promise<string[]> {
  const sql = `delete from auth.sessions where user_id = :userId and id <> :except returning id`;
  return (await rows<{ id: string }>(knex, sql, { userId, except })).map(({ id }) => id);
}

/** How a session begins that no second factor is a part of. */
function methodOf(account: NewSession['account']): SessionMethod {
  return account === null ? 'provider' : 'password';
}

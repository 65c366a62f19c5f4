import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { AUTH_LIMITS } from '../limits.ts';

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
}

export interface NewSession {
  readonly id: string;
  readonly secretHash: Buffer;
  readonly userId: string;
  /** The account, with the hash of the password that was right; null after a sign-in at the identity provider. */
  readonly account: { readonly id: string; readonly passwordHash: string } | null;
}

export interface SessionStore {
  /** Null when it ended, was not used for too long, or its person does not exist. A read counts as a use. */
  find(secretHash: Buffer): Promise<Session | null>;
  /**
   * False when the password was changed since it was checked. The account stays locked until the session exists, so a change of the
   * password either ends the session or comes first.
   */
  insert(session: NewSession): Promise<boolean>;
  end(id: string): Promise<void>;
  endAllOf(userId: string): Promise<void>;
}

/** How exactly the last use is stored. */
const USE_SECONDS = 600;
/** Each new session deletes up to so many that ended. */
const DELETED_AT_ONCE = 20;

const IS_LIVE = `s.last_used_at > now() - make_interval(secs => ${AUTH_LIMITS.sessionIdleMs / 1000})
  and s.created_at > now() - make_interval(secs => ${AUTH_LIMITS.sessionMs / 1000})`;

/** Without accounts no session that began with a password is one. Keeps authentication.accounts.off. */
export function sessionStore(knex: Knex, { hasAccounts }: { readonly hasAccounts: boolean }): SessionStore {
  const isLive = hasAccounts ? IS_LIVE : `${IS_LIVE} and s.account_id is null`;
  return {
    // Unique index sessions (secret_hash). Both parts of the statement read the same snapshot.
    find: async (secretHash) => {
      const sql = `with used as (
          update auth.sessions s set last_used_at = now()
          where s.secret_hash = :secretHash and s.last_used_at < now() - make_interval(secs => ${USE_SECONDS}) and ${isLive}
        )
        select s.id, s.user_id as "userId", s.account_id as "accountId", u.name, u.email,
          s.created_at as "createdAt"
        from auth.sessions s join sync.users u on u.id = s.user_id
        where s.secret_hash = :secretHash and ${isLive}`;
      return (await rows<Session>(knex, sql, { secretHash }))[0] ?? null;
    },
    insert: async ({ id, secretHash, userId, account }) => {
      const owner =
        account === null
          ? `select cast(null as uuid) as id`
          : `select id from auth.accounts where id = :accountId and password_hash = :passwordHash for share`;
      const sql = `with owner as (${owner})
        insert into auth.sessions (id, secret_hash, user_id, account_id)
        select :id, :secretHash, :userId, owner.id from owner returning id`;
      const values = account === null ? {} : { accountId: account.id, passwordHash: account.passwordHash };
      if ((await rows(knex, sql, { id, secretHash, userId, ...values })).length === 0) return false;
      // Index sessions (user_id).
      const excess = `delete from auth.sessions where id in (select id from auth.sessions where user_id = :userId
        order by last_used_at desc, created_at desc offset ${AUTH_LIMITS.sessionsPerPersonMax})`;
      await rows(knex, excess, { userId });
      // Index sessions (last_used_at). A session that is too old and in use ends by `find`, and is deleted when it is idle.
      const ended = `delete from auth.sessions where id in (select s.id from auth.sessions s
        where s.last_used_at < now() - make_interval(secs => ${AUTH_LIMITS.sessionIdleMs / 1000})
        order by s.last_used_at limit ${DELETED_AT_ONCE} for update skip locked)`;
      await rows(knex, ended);
      return true;
    },
    end: async (id) => {
      await rows(knex, `delete from auth.sessions where id = :id`, { id });
    },
    endAllOf: async (userId) => {
      await rows(knex, `delete from auth.sessions where user_id = :userId`, { userId });
    },
  };
}

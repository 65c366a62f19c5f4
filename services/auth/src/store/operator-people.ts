import type { OperatorPerson, OperatorPersonDetail } from '@wts/contracts';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { pageCondition, type Page } from './operator-page.ts';
import { ACCOUNT_ISSUER } from './accounts.ts';

/** What operators see of people: their records, from sync, with everything here by which they sign in. Keeps operator.people.find. */
export interface OperatorPeople {
  /** By name. */
  list(page: Page): Promise<OperatorPerson[]>;
  /** Null for an unknown person. */
  find(userId: string): Promise<OperatorPersonDetail | null>;
}

/** A time of the database as answers have it. */
export function timeSql(value: string): string {
  return `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** The last use of a session, a key or a grant of `userId`, which is SQL. */
export function lastSeenSql(userId: string): string {
  return `(select max(at) from (
    select s.last_used_at as at from auth.sessions s where s.user_id = ${userId}
    union all select k.last_used_at from auth.api_keys k where k.user_id = ${userId}
    union all select g.used_at from auth.grants g where g.user_id = ${userId}) seen)`;
}

const PERSON = `u.id as "userId", u.name, u.email, ${timeSql('u.created_at')} as "createdAt",
  ${timeSql('d.disabled_at')} as "disabledAt", ${timeSql('d.erased_at')} as "erasedAt",
  ${timeSql(lastSeenSql('u.id'))} as "lastSeenAt",
  (select count(*)::int from sync.workspace_members m where m.user_id = u.id) as workspaces`;
const FROM = `sync.users u left join auth.disabled_people d on d.user_id = u.id`;

/** The text is a part of the name, of an address that the person has now or signs in with, or is the id. */
const HAS_TEXT = `(position(lower(:text) in lower(u.name)) > 0 or position(lower(:text) in lower(u.email)) > 0
  or cast(u.id as text) = lower(:text)
  or u.id in (select user_id from auth.identities where position(lower(:text) in lower(email)) > 0))`;

export function operatorPeople(knex: Knex): OperatorPeople {
  return {
    // Reads all people: an operator looks at them a few times a day.
    list: ({ text, after, limit }) => {
      const where = pageCondition('u', 'sync.users', HAS_TEXT, { text, after });
      const sql = `select ${PERSON} from ${FROM} ${where} order by lower(u.name), u.id limit :limit`;
      return rows<OperatorPerson>(knex, sql, { text, after, limit });
    },
    // Indexes by person of each table.
    find: async (userId) => {
      const of = <T>(sql: string): Promise<T[]> => rows<T>(knex, sql, { userId, issuer: ACCOUNT_ISSUER });
      const [person] = await of<OperatorPerson>(`select ${PERSON} from ${FROM} where u.id = :userId`);
      if (person === undefined) return null;
      const [account = null] = await of<NonNullable<OperatorPersonDetail['account']>>(ACCOUNT);
      return {
        ...person,
        account,
        secondFactors: await of(FACTORS),
        identities: await of(IDENTITIES),
        memberships: await of(MEMBERSHIPS),
        sessions: await of(SESSIONS),
        keys: await of(KEYS),
        apps: await of(APPS),
      };
    },
  };
}

const ACCOUNT = `select a.id, a.shown_email as email, a.email_verified as "emailVerified",
    ${timeSql('a.created_at')} as "createdAt"
  from auth.identities i join auth.accounts a on a.id::text = i.subject
  where i.user_id = :userId and i.issuer = :issuer order by a.created_at`;
/** Names of passkeys, and the authenticator app. */
const FACTORS = `select f.name, ${timeSql('f.created_at')} as "createdAt"
  from auth.identities i join (
    select account_id, name, created_at from auth.passkeys
    union all select account_id, 'Authenticator app', created_at from auth.totp
  ) f on cast(f.account_id as text) = i.subject
  where i.user_id = :userId and i.issuer = :issuer order by f.created_at, f.name`;
const IDENTITIES = `select issuer, subject, email, email_verified as "emailVerified"
  from auth.identities where user_id = :userId order by created_at, issuer`;
const MEMBERSHIPS = `select w.id as "workspaceId", w.name, w.url_key as "urlKey", m.role,
    ${timeSql('w.archived_at')} as "archivedAt"
  from sync.workspace_members m join sync.workspaces w on w.id = m.workspace_id
  where m.user_id = :userId order by lower(w.name), w.id`;
const SESSIONS = `select id, browser, last_network as "lastNetwork", ${timeSql('created_at')} as "createdAt",
    ${timeSql('last_used_at')} as "lastUsedAt"
  from auth.sessions where user_id = :userId order by last_used_at desc, id`;
const KEYS = `select id, label, key_prefix as "keyPrefix", permissions, workspace_id as "workspaceId",
    ${timeSql('created_at')} as "createdAt", ${timeSql('expires_at')} as "expiresAt",
    ${timeSql('last_used_at')} as "lastUsedAt"
  from auth.api_keys where user_id = :userId and revoked_at is null order by created_at desc, id`;
const APPS = `select id, client_id as "clientId", client_name as "clientName", scopes, workspace_id as "workspaceId",
    ${timeSql('created_at')} as "createdAt", ${timeSql('expires_at')} as "expiresAt", ${timeSql('used_at')} as "lastUsedAt"
  from auth.grants where user_id = :userId and revoked_at is null and expires_at > now() and used_at is not null
  order by created_at desc, id`;

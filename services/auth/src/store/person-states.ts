import type { OperatorPerson, OperatorPersonDetail } from '@wts/contracts';
import { isoTimeSql } from '@wts/log';
import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { ACCOUNT_ISSUER } from './accounts.ts';

type PersonState = Pick<OperatorPerson, 'disabledAt' | 'erasedAt' | 'lastSeenAt'>;
type SignsIn = Pick<OperatorPersonDetail, 'account' | 'secondFactors' | 'identities' | 'sessions' | 'keys' | 'apps'>;

/** How many people are in which state. */
interface PersonCounts {
  readonly peopleErased: number;
  readonly peopleDisabled: number;
  readonly peopleActive: number;
  /** Which database this is, and its size. */
  readonly database: { readonly id: string; readonly bytes: number };
}

/** What this service knows of people whose records are elsewhere. */
export interface PersonStates {
  /** By person. */
  of(userIds: readonly string[]): Promise<ReadonlyMap<string, PersonState>>;
  /** People who sign in with an address that has the text, so many at most. */
  withAddress(text: string, most: number): Promise<string[]>;
  /** Everything by which a person signs in. */
  detail(userId: string): Promise<SignsIn>;
  counts(): Promise<PersonCounts>;
}

/** Uses of sessions, keys and grants. */
const USES = `select user_id, last_used_at as at from auth.sessions
  union all select user_id, last_used_at from auth.api_keys union all select user_id, used_at from auth.grants`;

export function personStates(knex: Knex): PersonStates {
  return {
    // Indexes by person of each table.
    of: async (userIds) => {
      const sql = `select u.id as "userId", ${isoTimeSql('d.disabled_at')} as "disabledAt", ${isoTimeSql('d.erased_at')} as "erasedAt",
          ${isoTimeSql(`(select max(at) from (${USES}) uses where uses.user_id = u.id)`)} as "lastSeenAt"
        from unnest(cast(:userIds as uuid[])) u (id) left join auth.disabled_people d on d.user_id = u.id`;
      const found = await rows<PersonState & { userId: string }>(knex, sql, { userIds });
      return new Map(found.map(({ userId, ...state }) => [userId, state]));
    },
    withAddress: async (text, most) => {
      const sql = `select distinct user_id as "userId" from auth.identities
        where position(lower(:text) in lower(email)) > 0 order by user_id limit :most`;
      return (await rows<{ userId: string }>(knex, sql, { text, most })).map(({ userId }) => userId);
    },
    // Indexes by person of each table.
    detail: async (userId) => {
      const of = <T>(sql: string): Promise<T[]> => rows<T>(knex, sql, { userId, issuer: ACCOUNT_ISSUER });
      const [account = null] = await of<NonNullable<SignsIn['account']>>(ACCOUNT);
      return {
        account,
        secondFactors: await of(FACTORS),
        identities: await of(IDENTITIES),
        sessions: await of(SESSIONS),
        keys: await of(KEYS),
        apps: await of(APPS),
      };
    },
    counts: async () => {
      const [counts] = await rows<PersonCounts>(knex, COUNTS);
      if (counts === undefined) throw new Error('a select without a table has one row');
      return counts;
    },
  };
}

/** Reads whole tables. The id of the database is that of `countRecords` in sync. */
const COUNTS = `select
  (select count(*)::int from auth.disabled_people where erased_at is not null) as "peopleErased",
  (select count(*)::int from auth.disabled_people where erased_at is null) as "peopleDisabled",
  (select count(distinct user_id)::int from (${USES}) uses where at > now() - interval '30 days') as "peopleActive",
  json_build_object('id', extract(epoch from pg_postmaster_start_time()) || ' ' || current_database(),
    'bytes', pg_database_size(current_database())) as database`;

const ACCOUNT = `select a.id, a.shown_email as email, a.email_verified as "emailVerified",
    ${isoTimeSql('a.created_at')} as "createdAt"
  from auth.identities i join auth.accounts a on a.id::text = i.subject
  where i.user_id = :userId and i.issuer = :issuer order by a.created_at`;
/** Names of passkeys, and the authenticator app. */
const FACTORS = `select f.name, ${isoTimeSql('f.created_at')} as "createdAt"
  from auth.identities i join (
    select account_id, name, created_at from auth.passkeys
    union all select account_id, 'Authenticator app', created_at from auth.totp
  ) f on cast(f.account_id as text) = i.subject
  where i.user_id = :userId and i.issuer = :issuer order by f.created_at, f.name`;
const IDENTITIES = `select issuer, subject, email, email_verified as "emailVerified"
  from auth.identities where user_id = :userId order by created_at, issuer`;
const SESSIONS = `select id, browser, last_network as "lastNetwork", ${isoTimeSql('created_at')} as "createdAt",
    ${isoTimeSql('last_used_at')} as "lastUsedAt"
  from auth.sessions where user_id = :userId order by last_used_at desc, id`;
const KEYS = `select id, label, key_prefix as "keyPrefix", permissions, workspace_id as "workspaceId",
    ${isoTimeSql('created_at')} as "createdAt", ${isoTimeSql('expires_at')} as "expiresAt",
    ${isoTimeSql('last_used_at')} as "lastUsedAt"
  from auth.api_keys where user_id = :userId and revoked_at is null order by created_at desc, id`;
const APPS = `select id, client_id as "clientId", client_name as "clientName", scopes, workspace_id as "workspaceId",
    ${isoTimeSql('created_at')} as "createdAt", ${isoTimeSql('expires_at')} as "expiresAt", ${isoTimeSql('used_at')} as "lastUsedAt"
  from auth.grants where user_id = :userId and revoked_at is null and expires_at > now() and used_at is not null
  order by created_at desc, id`;

import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { pagesOf } from '../domain/pages.ts';
import { ACCOUNT_ISSUER } from './accounts.ts';

/** One thing that is stored of a person. */
export interface PersonalDatum {
  readonly type: string;
  readonly [field: string]: unknown;
}

interface Source {
  readonly type: string;
  /** A query of `key`, by which it is ordered, and `data`; it begins after `:after`, which is null at first. */
  readonly sql: string;
}

const PAGE = 500;
const LOWEST = '00000000-0000-0000-0000-000000000000';

/** What this service stores of a person, in pages. Without hashes and other things that only the service can use. */
export async function* ownPersonalData(knex: Knex, userId: string): AsyncGenerator<PersonalDatum> {
  for (const { type, sql } of SOURCES) {
    const pages = pagesOf<{ key: string; data: object }>(PAGE, (last) =>
      rows(knex, `${sql} limit ${PAGE}`, { userId, after: last?.key ?? LOWEST, issuer: ACCOUNT_ISSUER }),
    );
    for await (const page of pages) for (const { data } of page) yield { type, ...data };
  }
}

/** Rows of this service with these columns besides the id. */
function ownSource(type: string, table: string, columns: readonly string[]): Source {
  const data = ['id', ...columns].map((column) => `'${camelCase(column)}', ${column}`).join(', ');
  const sql = `select id::text as key, json_build_object(${data}) as data from auth.${table}
    where user_id = :userId and id > :after order by id`;
  return { type, sql };
}

function camelCase(column: string): string {
  return column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const SOURCES: readonly Source[] = [
  {
    type: 'identity',
    sql: `select encode(identity_hash, 'hex') as key, json_build_object('issuer', issuer, 'subject', subject,
        'email', email, 'emailVerified', email_verified, 'createdAt', created_at) as data
      from auth.identities where user_id = :userId and encode(identity_hash, 'hex') > :after order by 1`,
  },
  {
    type: 'account',
    sql: `select a.id::text as key, json_build_object('id', a.id, 'email', a.shown_email, 'name', a.name,
        'emailVerified', a.email_verified, 'createdAt', a.created_at) as data
      from auth.identities i join auth.accounts a on a.id::text = i.subject
      where i.user_id = :userId and i.issuer = :issuer and a.id > :after order by a.id`,
  },
  {
    type: 'passkey',
    sql: `select cast(p.id as text) as key, json_build_object('id', p.id, 'name', p.name, 'createdAt', p.created_at,
        'lastUsedAt', p.last_used_at) as data
      from auth.identities i join auth.passkeys p on cast(p.account_id as text) = i.subject
      where i.user_id = :userId and i.issuer = :issuer and p.id > :after order by p.id`,
  },
  ownSource('session', 'sessions', ['created_at', 'last_used_at', 'browser', 'network', 'last_network']),
  ownSource('event', 'events', ['at', 'kind', 'actor', 'workspace_id', 'network', 'browser', 'details']),
  ownSource('mail', 'mails', ['created_at', 'kind', 'recipient', 'state']),
  ownSource('key', 'api_keys', [
    'label',
    'key_prefix',
    'permissions',
    'workspace_id',
    'created_at',
    'expires_at',
    'last_used_at',
    'revoked_at',
  ]),
  ownSource('app', 'grants', [
    'client_id',
    'client_name',
    'scopes',
    'workspace_id',
    'created_at',
    'used_at',
    'expires_at',
    'revoked_at',
  ]),
];

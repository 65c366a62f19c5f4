import type { Knex } from 'knex';
import { copyFromWorkspace } from '../store/copy-from-workspace.ts';

const COLUMNS = [
  'identity_hash',
  'issuer',
  'subject',
  'user_id',
  'email',
  'email_verified',
  'created_at',
  'person_created_at',
];

/**
 * The person of each (issuer, subject) of a token. Rows are found by the hash of the pair, because the longest issuer does not
 * fit into an index entry of PostgreSQL. The workspace service kept them before.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.identities (
    identity_hash bytea primary key check (length(identity_hash) = 32),
    issuer text not null,
    subject text not null,
    user_id uuid not null,
    email text,
    email_verified boolean not null default false,
    created_at timestamptz not null default now(),
    person_created_at timestamptz
  )`);
  await copyFromWorkspace(knex, 'identities', COLUMNS);
  await knex.raw(`create index identities_user_id_idx on auth.identities (user_id)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.identities`);
}

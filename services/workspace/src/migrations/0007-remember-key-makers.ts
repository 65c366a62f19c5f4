import type { Knex } from 'knex';

/** What created a key: a session or another key. Null for keys that are older than this column, or created by an operator. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table workspace.api_keys
    add column made_by text check (made_by in ('session', 'api_key')),
    add column made_by_key uuid references workspace.api_keys (id),
    add check ((made_by_key is not null) = (made_by is not distinct from 'api_key'))`);
  await knex.raw(`create index api_keys_made_by_key_idx on workspace.api_keys (made_by_key)
    where made_by_key is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table workspace.api_keys drop column made_by_key, drop column made_by`);
}

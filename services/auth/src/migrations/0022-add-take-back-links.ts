import type { Knex } from 'knex';

/** Links that take an account back. */
export async function up(knex: Knex): Promise<void> {
  await setKinds(knex, [...BEFORE, 'take-back']);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`delete from auth.mail_links where kind = 'take-back'`);
  await setKinds(knex, BEFORE);
}

const BEFORE = ['reset', 'verify', 'change', 'stop-change', 'registration', 'invitation'];

async function setKinds(knex: Knex, kinds: readonly string[]): Promise<void> {
  await knex.raw(`alter table auth.mail_links drop constraint mail_links_kind_check,
    add constraint mail_links_kind_check check (kind in (${kinds.map((kind) => `'${kind}'`).join(', ')}))`);
}

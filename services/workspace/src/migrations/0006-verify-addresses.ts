import type { Knex } from 'knex';

/** `email_verified` is true or false: an address without the claim of its provider is not verified. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`update workspace.identities set email_verified = false where email_verified is null`);
  await knex.raw(`alter table workspace.identities
    alter column email_verified set default false, alter column email_verified set not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`alter table workspace.identities
    alter column email_verified drop default, alter column email_verified drop not null`);
}

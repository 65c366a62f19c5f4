import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table demo.things add column day date');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table demo.things drop column day');
}

import type { Knex } from 'knex';

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table demo.things (
      id uuid primary key,
      name text not null unique check (length(name) <= 10),
      parent uuid references demo.things,
      count integer not null default 0,
      data jsonb
    )`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table demo.things');
}

import type { Knex } from 'knex';

export const formerName = '0005-insist';

/** A function that ends a transaction whose assumptions no longer hold, with a code that allows another try. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create function sync.insist(holds boolean) returns void language plpgsql as $$
    begin
      if holds is not true then
        raise exception 'what was looked at has changed' using errcode = 'serialization_failure';
      end if;
    end
  $$`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop function sync.insist(boolean)`);
}

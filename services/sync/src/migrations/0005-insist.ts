import type { Knex } from 'knex';

/** Ends a transaction that rests on what is no longer so. The code says that trying again may help. */
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

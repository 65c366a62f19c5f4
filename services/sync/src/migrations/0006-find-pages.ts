import type { Knex } from 'knex';

/**
 * How pages of the log are found, see `packages/log/src/read-entries.ts`.
 *
 * `find_page` gives the first places at which some groups have entries. It looks at a window of places at a time, at each
 * group's own piece of index. A window as wide as the page holds no more than a page; the next is as wide as what was found
 * so far lets expect. One that holds far more is given up for a narrower one, so what is read follows the page, however
 * the entries of the groups lie.
 *
 * The order by group and the settings leave one plan: only index (group_id, sync_id) has that order, and nothing may be
 * sorted into it. Left alone, the planner guesses how many entries a group has, and where it guesses wrong it reads and
 * sorts all of them, or walks past those of everybody else.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create function sync.find_page(groups uuid[], after bigint, up_to bigint, size int) returns bigint[]
    language plpgsql stable
    set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
    set plan_cache_mode = force_generic_plan set jit = off
    as $$
    declare
      places bigint[] := '{}';
      more bigint[];
      reached bigint := after;
      width bigint := size;
      edge bigint;
    begin
      while reached < up_to and cardinality(places) < size loop
        edge := least(up_to, reached + width);
        more := array(
          select sync_id from sync.sync_actions
          where group_id = any(groups) and sync_id > reached and sync_id <= edge
          order by group_id, sync_id limit 8 * size
        );
        if cardinality(more) = 8 * size then
          -- As many as a page holds lie before this place.
          width := (select place from unnest(more) place order by place offset size - 1 limit 1) - reached;
          continue;
        end if;
        places := places || array(select place from unnest(more) place order by place limit size - cardinality(places));
        reached := edge;
        width := least(32 * width, size + 2 * (reached - after) * (size - cardinality(places)) / (1 + cardinality(places)));
      end loop;
      return places;
    end
    $$`);
  // What a person gained and lost is few, whatever else their own group holds.
  await knex.raw(`create index sync_actions_moves_idx on sync.sync_actions (group_id, sync_id)
    where model in ('WorkspaceMember', 'ProjectMember') and action in ('INSERT', 'DELETE')`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop index sync.sync_actions_moves_idx`);
  await knex.raw(`drop function sync.find_page(uuid[], bigint, bigint, int)`);
}

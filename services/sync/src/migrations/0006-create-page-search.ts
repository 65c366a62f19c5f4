import type { Knex } from 'knex';

export const formerName = '0006-find-pages';

/**
 * The search for pages of the log, see `packages/log/src/read-entries.ts`.
 *
 * `find_page` returns the first positions at which some groups have entries. It reads one window of positions at a time, each
 * group by its own range of the index. The first window is as wide as the page and so holds no more than a page; the width of the
 * next is estimated from what was found. A window that holds far more is replaced by a narrower one, so the cost follows the size
 * of the page, however the entries of the groups are distributed.
 *
 * The order by group and the settings leave one plan: only index (group_id, sync_id) has that order, and sorting is off.
 * Otherwise the planner estimates how many entries a group has, and with a wrong estimate it reads and sorts all of them, or reads
 * those of all other groups.
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
  // Gains and losses of a person are few, even where their own group has many entries.
  await knex.raw(`create index sync_actions_moves_idx on sync.sync_actions (group_id, sync_id)
    where model in ('WorkspaceMember', 'ProjectMember') and action in ('INSERT', 'DELETE')`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop index sync.sync_actions_moves_idx`);
  await knex.raw(`drop function sync.find_page(uuid[], bigint, bigint, int)`);
}

import type { Knex } from 'knex';

/**
 * Workspaces that move to another cell or came from one. `has_moves` says whether there are any: each commit reads it with the head of the
 * log, and only then compares its workspaces. No workspace may move while replicas of the version before run, which do not compare.
 */
export async function up(knex: Knex): Promise<void> {
  // members: who loses a workspace that has moved, and is answered where it is now.
  await knex.raw(`create table sync.workspace_moves (
    workspace_id uuid primary key,
    state text not null check (state in ('moving', 'moved', 'arriving', 'removed')),
    base_url text,
    members uuid[] not null default '{}',
    changed_at timestamptz not null default now()
  )`);
  await knex.raw(`alter table sync.log_state add column has_moves boolean not null default false`);
  // People are no part of a workspace: they may be renamed while one of theirs is moving.
  await knex.raw(`create function sync.check_moves(workspaces uuid[], models text[], expected text) returns boolean
    language plpgsql stable as $$
    begin
      perform sync.insist(not exists (
        select from unnest(workspaces, models) as entry(workspace_id, model)
          left join sync.workspace_moves move on move.workspace_id = entry.workspace_id
        where entry.workspace_id is not null and entry.model <> 'User'
          and case when expected is null then move.state in ('moving', 'moved', 'arriving')
            else move.state is distinct from expected end
      ));
      return true;
    end
  $$`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop function sync.check_moves(uuid[], text[], text)`);
  await knex.raw(`alter table sync.log_state drop column has_moves`);
  await knex.raw(`drop table sync.workspace_moves`);
}

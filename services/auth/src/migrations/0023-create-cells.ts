import type { Knex } from 'knex';

/**
 * Where an installation of several cells has its workspaces and people: infra/decisions/0040. All of it is empty with one cell.
 * `cells`: when the workspaces of a cell were last listed, and how far changes of people are followed in its log. `person_cells`: the copies
 * of a person's record besides that of the first cell; one is behind while `changed` is not `put`. `moves`: workspaces on their way into
 * another cell; `at` is how far the step is, and `held_at` since when changes are refused.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table auth.cells (
    shard integer primary key,
    listed_at timestamptz,
    people_position text
  )`);
  await knex.raw(`create table auth.workspace_cells (
    workspace_id uuid primary key,
    url_key text not null unique,
    shard integer not null,
    claimed_at timestamptz not null default now()
  )`);
  await knex.raw(`create index workspace_cells_shard_idx on auth.workspace_cells (shard)`);
  await knex.raw(`create table auth.person_cells (
    user_id uuid not null,
    shard integer not null,
    is_there boolean not null default false,
    changed bigint not null default 1,
    put bigint not null default 0,
    primary key (user_id, shard)
  )`);
  await knex.raw(`create index person_cells_behind_idx on auth.person_cells (user_id) where changed <> put`);
  await knex.raw(`create table auth.moves (
    id uuid primary key,
    workspace_id uuid not null,
    name text not null,
    url_key text not null,
    source integer not null,
    target integer not null,
    step text not null,
    at jsonb not null default '{}',
    records bigint not null default 0,
    is_cancelled boolean not null default false,
    problem text,
    operator_id uuid not null,
    created_at timestamptz not null default now(),
    held_at timestamptz,
    ended_at timestamptz
  )`);
  await knex.raw(`create unique index moves_open_idx on auth.moves (workspace_id) where ended_at is null`);
  await knex.raw(`create index moves_created_at_idx on auth.moves (created_at, id)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table auth.moves, auth.person_cells, auth.workspace_cells, auth.cells`);
}

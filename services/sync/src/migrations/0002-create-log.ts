import type { Knex } from 'knex';

/**
 * The log, partitioned by position so that old entries are dropped with their partition and not deleted row by row.
 * `store/partitions.ts` makes the next partitions; the default one takes entries that arrive before that.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table sync.sync_actions (
    sync_id bigint not null primary key,
    event_id uuid not null,
    workspace_id uuid,
    group_id uuid not null,
    model text not null,
    model_id uuid not null,
    action text not null,
    record json not null,
    data json,
    changed text[] not null,
    actor_id uuid not null,
    client_id text not null,
    client_tx_id text not null,
    created_at timestamptz not null
  ) partition by range (sync_id)`);
  await knex.raw(`create table sync.sync_actions_default partition of sync.sync_actions default`);
  await knex.raw(`create table sync.sync_actions_0 partition of sync.sync_actions for values from (0) to (1000000)`);
  await knex.raw(`create index sync_actions_group_id_idx on sync.sync_actions (group_id, sync_id)`);
  await knex.raw(`create index sync_actions_model_id_idx on sync.sync_actions (model_id, sync_id)`);
  await knex.raw(`create table sync.log_state (
    is_only_row boolean primary key default true check (is_only_row),
    epoch uuid not null,
    floor bigint not null default 0
  )`);
  await knex.raw(`insert into sync.log_state (epoch) values (gen_random_uuid())`);
  await knex.raw(`create table sync.idempotency_keys (
    user_id uuid not null,
    client_id text not null,
    client_tx_id text not null,
    last_id bigint not null,
    main_ids bigint[] not null,
    created_at timestamptz not null,
    primary key (user_id, client_id, client_tx_id)
  )`);
  await knex.raw(`create index idempotency_keys_created_at_idx on sync.idempotency_keys using brin (created_at)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table sync.idempotency_keys`);
  await knex.raw(`drop table sync.log_state`);
  await knex.raw(`drop table sync.sync_actions`);
}

import type { Knex } from 'knex';

/**
 * Endpoints, their signing secrets and their lanes. An endpoint that was deleted stays, with `deleted_at`, until its history
 * is removed in steps. `since_position` is the head of the log when it was created: older entries are not for it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create table webhooks.endpoints (
    id uuid primary key,
    workspace_id uuid not null,
    url text not null,
    description text not null,
    event_types text[] not null,
    enabled boolean not null default true,
    since_position bigint not null,
    has_succeeded boolean not null default false,
    consecutive_failures integer not null default 0,
    failing_since timestamptz,
    last_failure_at timestamptz,
    disabled_at timestamptz,
    disabled_reason text check (disabled_reason in ('consecutive_failures', 'gone')),
    created_by uuid not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    deleted_at timestamptz
  )`);
  await knex.raw(
    `create index endpoints_workspace_id_idx on webhooks.endpoints (workspace_id) where deleted_at is null`,
  );
  await knex.raw(
    `create index endpoints_deleted_at_idx on webhooks.endpoints (deleted_at) where deleted_at is not null`,
  );

  // Encrypted; key_id names the key. One without expires_at is the current one, the others sign until they expire.
  await knex.raw(`create table webhooks.secrets (
    id uuid primary key,
    endpoint_id uuid not null references webhooks.endpoints on delete cascade,
    key_id text not null,
    sealed bytea not null,
    created_at timestamptz not null default now(),
    expires_at timestamptz
  )`);
  await knex.raw(`create index secrets_endpoint_id_idx on webhooks.secrets (endpoint_id)`);

  // One row per endpoint: the order of its deliveries, and which replica attempts them. due_at is null while there is nothing to attempt.
  await knex.raw(`create table webhooks.lanes (
    endpoint_id uuid primary key references webhooks.endpoints on delete cascade,
    last_sequence bigint not null default 0,
    last_created_at timestamptz not null default now(),
    wakes bigint not null default 0,
    due_at timestamptz,
    holder uuid,
    token bigint not null default 0,
    leased_until timestamptz
  ) with (fillfactor = 70)`);
  await knex.raw(`create index lanes_due_at_idx on webhooks.lanes (due_at) where due_at is not null`);
  await knex.raw(`create index lanes_holder_idx on webhooks.lanes (holder) where holder is not null`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`drop table webhooks.lanes, webhooks.secrets, webhooks.endpoints`);
}

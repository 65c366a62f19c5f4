import type { Knex } from 'knex';

/**
 * Events, one delivery of an event for each endpoint, and the attempts of each delivery. All three are partitioned by the
 * day of the event, which the log fixes at commit, and dropped by the partition; `store/partitions.ts` makes the next ones,
 * the default one only catches what arrives before it could.
 */
export async function up(knex: Knex): Promise<void> {
  // body: exactly the text that is sent, to every endpoint and on every attempt.
  await knex.raw(`create table webhooks.events (
    id uuid not null,
    created_at timestamptz not null,
    workspace_id uuid not null,
    position bigint,
    type text not null,
    body text not null,
    primary key (id, created_at)
  ) partition by range (created_at)`);

  // sequence: the order of first attempts of an endpoint. created_at ascends with it, by a millisecond at least.
  // scheduled_at: when the schedule has its next attempt, null after its last; manual_at: when someone asked for one more.
  await knex.raw(`create table webhooks.deliveries (
    id uuid not null,
    endpoint_id uuid not null,
    event_id uuid not null,
    event_at timestamptz not null,
    event_type text not null,
    sequence bigint not null,
    status text not null default 'pending' check (status in ('pending', 'succeeded', 'failed')),
    attempt_count integer not null default 0,
    scheduled_attempts smallint not null default 0,
    scheduled_at timestamptz,
    manual_at timestamptz,
    created_at timestamptz not null,
    last_attempt_at timestamptz,
    completed_at timestamptz,
    last_status_code smallint,
    last_response_snippet text,
    last_error text,
    primary key (id, event_at),
    unique (endpoint_id, event_id, event_at)
  ) partition by range (event_at)`);
  await knex.raw(`create index deliveries_created_at_idx on webhooks.deliveries (endpoint_id, created_at desc)`);
  await knex.raw(`create index deliveries_first_idx on webhooks.deliveries (endpoint_id, sequence)
    where status = 'pending' and attempt_count = 0`);
  await knex.raw(`create index deliveries_retry_idx on webhooks.deliveries (endpoint_id, (least(scheduled_at, manual_at)))
    where status = 'pending' and attempt_count > 0`);
  await knex.raw(`create index deliveries_pending_tests_idx on webhooks.deliveries (endpoint_id)
    where status = 'pending' and event_type = 'endpoint.test'`);
  await knex.raw(
    `create index deliveries_failed_idx on webhooks.deliveries (endpoint_id, created_at) where status = 'failed'`,
  );

  await knex.raw(`create table webhooks.attempts (
    delivery_id uuid not null,
    event_at timestamptz not null,
    endpoint_id uuid not null,
    number integer not null,
    started_at timestamptz not null,
    duration_ms integer not null,
    status_code smallint,
    response_snippet text,
    error text,
    primary key (delivery_id, number, event_at)
  ) partition by range (event_at)`);

  for (const table of ['events', 'deliveries', 'attempts'])
    await knex.raw(`create table webhooks.${table}_default partition of webhooks.${table} default`);

  await createCursor(knex);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    `drop table webhooks.parked_entries, webhooks.cursor, webhooks.attempts, webhooks.deliveries, webhooks.events`,
  );
}

async function createCursor(knex: Knex): Promise<void> {
  // How far the log was turned into events; null before the first start, which begins at the head.
  await knex.raw(`create table webhooks.cursor (
    is_only_row boolean primary key default true check (is_only_row),
    epoch uuid,
    position bigint
  )`);
  await knex.raw(`insert into webhooks.cursor default values`);

  // Entries of the log that could not become an event, with the reason.
  await knex.raw(`create table webhooks.parked_entries (
    position bigint primary key,
    reason text not null,
    entry text not null,
    parked_at timestamptz not null default now()
  )`);
}

import type { Pool, PoolClient } from 'pg';
import type { AttemptResult } from '../domain/attempt.ts';
import type { DisabledReason, DisableRule, Failing } from '../domain/disable-rule.ts';
import { afterFailure, disabledReasonOf, isGone } from '../domain/disable-rule.ts';
import { inTransaction } from './transaction.ts';

/** What is recorded of an attempt. Times are counted back from now, so that only the clock of PostgreSQL is used. */
export interface Outcome extends Pick<AttemptResult, 'durationMs' | 'statusCode' | 'error' | 'snippet'> {
  readonly endpointId: string;
  readonly deliveryId: string;
  readonly eventAt: string;
  /** Of the lane when the attempt began. */
  readonly token: string;
  /** Of the endpoint when the attempt began. */
  readonly url: string;
  /** Before this attempt. */
  readonly attemptCount: number;
  readonly manualAt: string | null;
  readonly startedAgoMs: number;
  readonly settledAgoMs: number;
  /** From the end of the attempt to the next one of the schedule; null when there is none, or after a success. */
  readonly nextDelayMs: number | null;
}

export interface Recorded {
  /** Deliveries whose attempt was recorded; the others were recorded before, or belong to another replica's lane now. */
  readonly deliveryIds: ReadonlySet<string>;
  /** Endpoints that this switched off, and why. */
  readonly disabled: ReadonlyMap<string, DisabledReason>;
  /** Endpoints that were switched off while an attempt was under way that succeeded. */
  readonly enabledAgain: readonly string[];
}

const OUTCOME = `outcome as materialized (
    select endpoint_id, id, event_at, token, attempt_count, manual_at, status_code, error, snippet, next_delay_ms, duration_ms, url,
      clock_timestamp() - started_ago_ms * interval '1 millisecond' as started_at,
      clock_timestamp() - settled_ago_ms * interval '1 millisecond' as settled_at
    from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[], $5::int[], $6::timestamptz[], $7::smallint[],
      $8::text[], $9::text[], $10::float8[], $11::int[], $12::float8[], $13::float8[], $14::text[])
      as o(endpoint_id, id, event_at, token, attempt_count, manual_at, status_code, error, snippet, next_delay_ms,
        duration_ms, started_ago_ms, settled_ago_ms, url)
  )`;

const outcomeValues = (outcomes: readonly Outcome[]): unknown[] => [
  outcomes.map(({ endpointId }) => endpointId),
  outcomes.map(({ deliveryId }) => deliveryId),
  outcomes.map(({ eventAt }) => eventAt),
  outcomes.map(({ token }) => token),
  outcomes.map(({ attemptCount }) => attemptCount),
  outcomes.map(({ manualAt }) => manualAt),
  outcomes.map(({ statusCode }) => statusCode),
  outcomes.map(({ error }) => error),
  outcomes.map(({ snippet }) => snippet),
  outcomes.map(({ nextDelayMs }) => nextDelayMs),
  outcomes.map(({ durationMs }) => Math.round(durationMs)),
  outcomes.map(({ startedAgoMs }) => startedAgoMs),
  outcomes.map(({ settledAgoMs }) => settledAgoMs),
  outcomes.map(({ url }) => url),
];

/** The number of an attempt is the count after it, read under the lock of its delivery, so no two have the same. */
const HISTORY = `history as (
    insert into webhooks.attempts
      (delivery_id, event_at, endpoint_id, number, started_at, duration_ms, status_code, response_snippet, error)
    select recorded.id, recorded.event_at, recorded.endpoint_id, recorded.attempt_count, started_at, duration_ms,
      status_code, snippet, error
    from recorded join outcome using (id)
  )`;

/**
 * Keeps webhooks.repeat.same-id: what was sent and not recorded is sent again, with the same id.
 *
 * A success counts, whichever replica records it. Neither the endpoint nor its lane is written, except when the success changes what
 * is known of the endpoint. An endpoint that was switched off for its failures while the successful attempt was under way is
 * switched on again: its consumer answers. A success at an address that the endpoint no longer has does not count for it.
 */
const RECORD_SUCCESSES = `with ${OUTCOME},
  recorded as (
    update webhooks.deliveries d set status = 'succeeded', attempt_count = d.attempt_count + 1,
      scheduled_attempts = d.scheduled_attempts + case when outcome.manual_at is null then 1 else 0 end,
      scheduled_at = null, manual_at = null, last_attempt_at = started_at, completed_at = settled_at,
      last_status_code = status_code, last_response_snippet = snippet, last_error = null, unrecorded_attempts = 0
    from outcome where d.id = outcome.id and d.event_at = outcome.event_at and d.status = 'pending'
    returning d.id, d.event_at, d.endpoint_id, d.attempt_count
  ),
  ${HISTORY},
  healthy as (
    select id, began_at, disabled_reason = 'consecutive_failures' and disabled_at >= began_at as is_wrongly_disabled
    from webhooks.endpoints
      join (select endpoint_id as id, url, max(started_at) as began_at from outcome group by 1, 2) newest using (id, url)
    where not has_succeeded or consecutive_failures > 0 or failing_since is not null
      or disabled_reason = 'consecutive_failures'
    order by id for update of endpoints
  ),
  cleared as (
    update webhooks.endpoints e set has_succeeded = true, consecutive_failures = 0, failing_since = null,
      last_failure_at = null, enabled = e.enabled or coalesce(is_wrongly_disabled, false),
      updated_at = case when is_wrongly_disabled then now() else updated_at end,
      disabled_at = case when is_wrongly_disabled then null else disabled_at end,
      disabled_reason = case when is_wrongly_disabled then null else disabled_reason end
    from healthy where e.id = healthy.id
  ),
  woken as (
    update webhooks.lanes set due_at = now(), wakes = wakes + 1
    from healthy where endpoint_id = healthy.id and is_wrongly_disabled
    returning endpoint_id
  )
  select array(select id::text from recorded) as ids, array(select endpoint_id::text from woken) as "enabledAgain"`;

/**
 * A failure counts only while the lane has the token that the attempt began with, which the lock keeps so until the end of
 * the transaction: another replica that took the lane over attempts the delivery itself. `attempt_count` makes the statement
 * harmless when it runs again because its first answer was lost.
 */
const RECORD_FAILURES = `with ${OUTCOME},
  next as materialized (
    select outcome.*, case when outcome.manual_at is not null then d.scheduled_at
        else settled_at + next_delay_ms * interval '1 millisecond' end as next_scheduled_at,
      case when d.manual_at is distinct from outcome.manual_at then d.manual_at end as next_manual_at
    from outcome join webhooks.deliveries d using (id, event_at)
    where d.status = 'pending' and d.attempt_count = outcome.attempt_count for update of d
  ),
  held as materialized (
    select endpoint_id, token from webhooks.lanes where endpoint_id in (select endpoint_id from next)
    order by endpoint_id for share
  ),
  recorded as (
    update webhooks.deliveries d set attempt_count = d.attempt_count + 1,
      scheduled_attempts = d.scheduled_attempts + case when next.manual_at is null then 1 else 0 end,
      scheduled_at = next_scheduled_at, manual_at = next_manual_at,
      status = case when next_scheduled_at is null and next_manual_at is null then 'failed' else 'pending' end,
      completed_at = case when next_scheduled_at is null and next_manual_at is null then settled_at end,
      last_attempt_at = started_at, last_status_code = status_code, last_response_snippet = snippet, last_error = error, unrecorded_attempts = 0
    from next join held using (endpoint_id, token) where d.id = next.id and d.event_at = next.event_at
    returning d.id, d.event_at, d.endpoint_id, d.attempt_count
  ),
  ${HISTORY}
  select array(select id::text from recorded) as ids`;

interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly isEnabled: boolean;
  readonly consecutiveFailures: number;
  readonly failingSince: Date | null;
  readonly lastFailureAt: Date | null;
  readonly now: Date;
}

/**
 * Records attempts in the order in which they ended, in one transaction. Rows are locked in the order endpoints,
 * deliveries, lanes, as the management does, because otherwise the two could wait for each other.
 */
export async function recordOutcomes(pool: Pool, outcomes: readonly Outcome[], rule: DisableRule): Promise<Recorded> {
  const successes = outcomes.filter(({ error }) => error === null);
  const failures = outcomes.filter(({ error }) => error !== null);
  if (failures.length === 0) return recordSuccesses(pool, successes);
  return inTransaction(pool, async (client) => {
    const endpointIds = new Set(outcomes.map(({ endpointId }) => endpointId));
    await client.query({ name: 'lock_endpoints', text: LOCK_ENDPOINTS, values: [[...endpointIds]] });
    const succeeded = await recordSuccesses(client, successes);
    const failed = await recordFailures(client, failures);
    const counted = failuresThatCount(outcomes).filter(({ deliveryId }) => failed.has(deliveryId));
    const disabled = await countFailures(client, counted, rule);
    return { ...succeeded, deliveryIds: failed.union(succeeded.deliveryIds), disabled };
  });
}

async function recordSuccesses(client: Pool | PoolClient, outcomes: readonly Outcome[]): Promise<Recorded> {
  if (outcomes.length === 0) return { deliveryIds: new Set(), disabled: new Map(), enabledAgain: [] };
  const { rows } = await client.query<{ ids: string[]; enabledAgain: string[] }>({
    name: 'record_successes',
    text: RECORD_SUCCESSES,
    values: outcomeValues(outcomes),
  });
  const [row] = rows;
  return { deliveryIds: new Set(row?.ids), disabled: new Map(), enabledAgain: row?.enabledAgain ?? [] };
}

async function recordFailures(client: PoolClient, outcomes: readonly Outcome[]): Promise<Set<string>> {
  const { rows } = await client.query<{ ids: string[] }>({
    name: 'record_failures',
    text: RECORD_FAILURES,
    values: outcomeValues(outcomes),
  });
  return new Set(rows[0]?.ids);
}

/** Those with no success of the same endpoint and address behind them; a 410 counts whatever else the endpoint answers. */
function failuresThatCount(outcomes: readonly Outcome[]): Outcome[] {
  const lastSuccess = new Map(
    outcomes.flatMap((outcome, at) => (outcome.error === null ? [[addressOf(outcome), at] as const] : [])),
  );
  return outcomes.filter(
    (outcome, at) =>
      outcome.error !== null && (isGone(outcome.statusCode) || at > (lastSuccess.get(addressOf(outcome)) ?? -1)),
  );
}

function addressOf({ endpointId, url }: Outcome): string {
  return `${endpointId} ${url}`;
}

const LOCK_ENDPOINTS = `select id, url, enabled and deleted_at is null as "isEnabled",
    consecutive_failures as "consecutiveFailures", failing_since as "failingSince", last_failure_at as "lastFailureAt",
    clock_timestamp() as now
  from webhooks.endpoints where id = any($1::uuid[]) order by id for no key update`;

/** Under the locks of the endpoints, so that no success comes between what is decided and what is written. */
async function countFailures(
  client: PoolClient,
  failures: readonly Outcome[],
  rule: DisableRule,
): Promise<Map<string, DisabledReason>> {
  const byEndpoint = Map.groupBy(failures, ({ endpointId }) => endpointId);
  const disabled = new Map<string, DisabledReason>();
  if (byEndpoint.size === 0) return disabled;
  const { rows } = await client.query<EndpointRow>({
    name: 'lock_endpoints',
    text: LOCK_ENDPOINTS,
    values: [[...byEndpoint.keys()]],
  });
  const failureCounts = rows.map((row) => {
    const { failing, reason } = evaluateFailures(row, byEndpoint.get(row.id) ?? [], rule);
    if (reason !== null) disabled.set(row.id, reason);
    return { id: row.id, failing, reason };
  });
  await client.query({
    name: 'count_failures',
    text: COUNT_FAILURES,
    values: [
      failureCounts.map(({ id }) => id),
      failureCounts.map(({ failing }) => failing.consecutiveFailures),
      failureCounts.map(({ failing }) => dateOf(failing.failingSinceMs)),
      failureCounts.map(({ failing }) => dateOf(failing.lastFailureMs)),
      failureCounts.map(({ reason }) => reason),
    ],
  });
  return disabled;
}

const COUNT_FAILURES = `update webhooks.endpoints e set consecutive_failures = counted.failures,
    failing_since = counted.failing_since, last_failure_at = counted.last_failure_at,
    enabled = e.enabled and reason is null,
    updated_at = case when reason is null then updated_at else clock_timestamp() end,
    disabled_at = case when reason is null then disabled_at else clock_timestamp() end,
    disabled_reason = coalesce(reason, disabled_reason)
  from unnest($1::uuid[], $2::int[], $3::timestamptz[], $4::timestamptz[], $5::text[])
    as counted(id, failures, failing_since, last_failure_at, reason)
  where e.id = counted.id`;

/** Answers of an address that the endpoint no longer has do not count against the one that it has. */
function evaluateFailures(
  row: EndpointRow,
  failures: readonly Outcome[],
  rule: DisableRule,
): { readonly failing: Failing; readonly reason: DisabledReason | null } {
  let failing: Failing = {
    consecutiveFailures: row.consecutiveFailures,
    failingSinceMs: row.failingSince?.getTime() ?? null,
    lastFailureMs: row.lastFailureAt?.getTime() ?? null,
  };
  let reason: DisabledReason | null = null;
  for (const { url, statusCode, settledAgoMs } of failures) {
    if (url !== row.url) continue;
    const atMs = row.now.getTime() - settledAgoMs;
    failing = afterFailure(failing, atMs, rule);
    if (row.isEnabled) reason ??= disabledReasonOf(failing, { atMs, statusCode }, rule);
  }
  return { failing, reason };
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms);
}

import type { Pool, PoolClient } from 'pg';
import type { StoredSecret } from '../domain/secrets.ts';

/** A lane that this replica leases. */
export interface LeasedLane {
  readonly endpointId: string;
  /** Of its workspace: whose turns its work takes. */
  readonly ownerId: string;
  /** Ascends with each take-over: what an earlier holder writes late is recognized by it. */
  readonly token: string;
  readonly wakes: string;
  /** The lease of the holder before ran out: it did not end properly. */
  readonly isTakenOver: boolean;
}

/** The state of a lane when its holder gives it back. */
export interface LaneState {
  readonly endpointId: string;
  readonly token: string;
  /** As of the newest reading; when the lane was woken since, its `due_at` stays. */
  readonly wakes: string;
  /** From now to its next attempt; null when it has none. */
  readonly dueInMs: number | null;
}

/** An endpoint as an attempt needs it. */
export interface EndpointSettings {
  readonly endpointId: string;
  readonly url: string;
  readonly origin: string;
  readonly isServed: boolean;
  readonly hasSucceeded: boolean;
  readonly consecutiveFailures: number;
  readonly wakes: string;
  readonly secrets: readonly StoredSecret[];
  /** Added to `performance.now()`, it gives the time by the clock of PostgreSQL. */
  readonly clockMs: number;
}

/** A delivery to be attempted, with the text to send. */
export interface DueDelivery {
  readonly endpointId: string;
  readonly deliveryId: string;
  /** Exact, as PostgreSQL writes it: the partition of the delivery. */
  readonly eventAt: string;
  readonly eventId: string;
  readonly body: string;
  readonly sequence: number;
  readonly attemptCount: number;
  readonly scheduledAttempts: number;
  /** Attempts that began and were never recorded, as far as they were counted (`countBegun`). */
  readonly unrecordedAttempts: number;
  /** Exact; the request for one more attempt that this attempt answers, null for an attempt of the schedule. */
  readonly manualAt: string | null;
  /** Since the event was committed, at the time of reading. */
  readonly ageMs: number;
}

export interface FirstAttempt extends DueDelivery {
  /** How many first attempts of the lane were found; more than are returned when their texts are too large together. */
  readonly found: number;
}

/** A retry, which may lie in the future; then without its text. */
export type WaitingRetry = Omit<DueDelivery, 'body'> & { readonly body: string | null; readonly dueInMs: number };

/** The endpoint itself while the workspace is not followed yet. */
const OWNER = `coalesce((select w.owner_id from webhooks.endpoints e join webhooks.workspaces w using (workspace_id)
    where e.id = lanes.endpoint_id), lanes.endpoint_id)`;

/** Looks at owners only when one has too many lanes. */
const IS_WANTED = `($3::uuid[] = '{}' or ${OWNER} <> all($3::uuid[]))`;

/** A holder that claims what was its own, because its lease ran out unseen by others, keeps its token. */
const CLAIMED = `update webhooks.lanes set holder = $1,
    token = lanes.token + case when free.holder = $1 then 0 else 1 end,
    leased_until = 'infinity'
  from free where lanes.endpoint_id = free.endpoint_id
  returning lanes.endpoint_id as "endpointId", lanes.token, lanes.wakes, coalesce(free.holder <> $1, false) as "isTakenOver",
    ${OWNER} as "ownerId"`;

export interface Claimant {
  readonly holder: string;
  /** Owners whose lanes are left to others, because the holder has as many of them as it may. */
  readonly withoutOwners: readonly string[];
}

/**
 * A lane is free by the row of a replica that has ended, not by a missing one, because that of a replica that has just begun
 * may not be visible yet. For a claim by a replica that has not ended. Nothing is claimed of an endpoint that moves: a move waits until no
 * replica holds its lane.
 */
const IS_FREE = `(lanes.holder is null or lanes.holder = $1 or leased_until < now()
    or exists (select from webhooks.replicas r where r.holder = lanes.holder and has_ended))
  and not exists (select from webhooks.endpoints e where e.id = lanes.endpoint_id and moving_at is not null)
  and exists (select from webhooks.replicas r where r.holder = $1 and not has_ended)`;

/** Leases lanes that have something to attempt, the longest due first. Rests on lanes_due_at_idx. */
export async function claimDueLanes(
  pool: Pool,
  { holder, withoutOwners, max }: Claimant & { readonly max: number },
): Promise<LeasedLane[]> {
  const { rows } = await pool.query<LeasedLane>({
    name: 'claim_due_lanes',
    text: `with free as materialized (
        select endpoint_id, holder from webhooks.lanes
        where due_at <= now() and lanes.holder is distinct from $1 and ${IS_FREE} and ${IS_WANTED}
        order by due_at limit $2 for update skip locked
      ) ${CLAIMED}`,
    values: [holder, max, withoutOwners],
  });
  return rows;
}

/**
 * Leases those of the lanes that are free, or that the holder was about to release. One that is locked is being claimed, or
 * woken, by another.
 */
export async function claimLanes(
  pool: Pool,
  { holder, withoutOwners, endpointIds }: Claimant & { readonly endpointIds: readonly string[] },
): Promise<LeasedLane[]> {
  const { rows } = await pool.query<LeasedLane>({
    name: 'claim_lanes',
    text: `with free as materialized (
        select endpoint_id, holder from webhooks.lanes
        where endpoint_id = any($2::uuid[]) and ${IS_FREE}
          and ${IS_WANTED}
        order by endpoint_id for update skip locked
      ) ${CLAIMED}`,
    values: [holder, endpointIds, withoutOwners],
  });
  return rows;
}

/** The lanes of the holder, with how often they were woken: this finds wakes that this replica missed. Rests on lanes_holder_idx. */
export async function readWakes(pool: Pool, holder: string): Promise<Omit<LaneState, 'dueInMs'>[]> {
  const { rows } = await pool.query<Omit<LaneState, 'dueInMs'>>({
    name: 'read_wakes',
    text: `select endpoint_id as "endpointId", token, wakes from webhooks.lanes where holder = $1`,
    values: [holder],
  });
  return rows;
}

/** In the order of endpoints, as every statement that locks several lanes, because otherwise two could wait for each other. */
const STATES = `with state as (
    select * from unnest($2::uuid[], $3::bigint[], $4::bigint[], $5::float8[]) as s(endpoint_id, token, wakes, due_in_ms)
  ),
  held as materialized (
    select lanes.endpoint_id, case when lanes.wakes > state.wakes then lanes.due_at
        when due_in_ms <= 0 then least(lanes.due_at, now())
        else now() + due_in_ms * interval '1 millisecond' end as due_at
    from webhooks.lanes join state using (endpoint_id)
    where lanes.holder = $1 and lanes.token = state.token
    order by lanes.endpoint_id for update of lanes
  )`;

const stateValues = (holder: string, states: readonly LaneState[]): unknown[] => [
  holder,
  states.map(({ endpointId }) => endpointId),
  states.map(({ token }) => token),
  states.map(({ wakes }) => wakes),
  states.map(({ dueInMs }) => dueInMs),
];

/** Before a replica claims its first lane. */
export async function addReplica(pool: Pool, holder: string, leaseMs: number): Promise<void> {
  const text = `insert into webhooks.replicas (holder, leased_until) values ($1, now() + $2 * interval '1 millisecond')
    on conflict (holder) do update set leased_until = excluded.leased_until`;
  await pool.query({ text, values: [holder, leaseMs] });
}

/** False when the lease ran out: its lanes may be held by others. */
export async function renewReplica(pool: Pool, holder: string, leaseMs: number): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'renew_replica',
    text: `update webhooks.replicas set leased_until = now() + $2 * interval '1 millisecond'
      where holder = $1 and not has_ended`,
    values: [holder, leaseMs],
  });
  return rowCount === 1;
}

/** Frees the lanes of other replicas whose lease ran out: a renewal at the same time is either before or too late. */
export async function endReplicas(pool: Pool, holder: string): Promise<void> {
  await pool.query({
    name: 'end_replicas',
    text: `update webhooks.replicas set has_ended = true where leased_until < now() and not has_ended and holder <> $1`,
    values: [holder],
  });
}

/** The row of an ended replica stays for an hour, longer than any claim that was sent before. */
export async function forgetReplicas(pool: Pool): Promise<void> {
  await pool.query({
    name: 'forget_replicas',
    text: `delete from webhooks.replicas r where has_ended and leased_until < now() - interval '1 hour'
      and not exists (select from webhooks.lanes l where l.holder = r.holder)`,
  });
}

export async function releaseLanes(pool: Pool, holder: string, states: readonly LaneState[]): Promise<void> {
  await pool.query({
    name: 'release_lanes',
    text: `${STATES} update webhooks.lanes set due_at = held.due_at, holder = null, leased_until = null
      from held where lanes.endpoint_id = held.endpoint_id`,
    values: stateValues(holder, states),
  });
}

type StoredSecretText = Readonly<Record<'keyId' | 'sealed' | 'createdAt', string>> & {
  readonly expiresAt: string | null;
};

type SettingsRow = Omit<EndpointSettings, 'origin' | 'secrets' | 'clockMs'> & {
  readonly secrets: readonly StoredSecretText[];
  readonly nowMs: number;
};

/** An endpoint whose lane is missing was deleted and is left out. */
export async function readSettings(client: PoolClient, endpointIds: readonly string[]): Promise<EndpointSettings[]> {
  const startedMs = performance.now();
  const { rows } = await client.query<SettingsRow>({
    name: 'read_settings',
    text: `select e.id as "endpointId", e.url, l.wakes,
        e.enabled and e.deleted_at is null and e.moving_at is null as "isServed", e.has_succeeded as "hasSucceeded",
        e.consecutive_failures as "consecutiveFailures", (extract(epoch from now()) * 1000)::float8 as "nowMs",
        (select coalesce(json_agg(json_build_object('keyId', key_id, 'sealed', encode(sealed, 'hex'),
            'createdAt', created_at, 'expiresAt', expires_at)), '[]')
          from webhooks.secrets where endpoint_id = e.id) as secrets
      from webhooks.endpoints e join webhooks.lanes l on l.endpoint_id = e.id where e.id = any($1::uuid[])`,
    values: [endpointIds],
  });
  return rows.map(({ nowMs, secrets, ...row }) => ({
    ...row,
    origin: URL.parse(row.url)?.origin ?? row.url,
    secrets: secrets.map(storedSecret),
    clockMs: nowMs - startedMs,
  }));
}

function storedSecret({ keyId, sealed, createdAt, expiresAt }: StoredSecretText): StoredSecret {
  return {
    keyId,
    sealed: Buffer.from(sealed, 'hex'),
    createdAt: new Date(createdAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  };
}

/** Where the reading of first attempts of a lane continues. */
export interface FirstsAsked {
  readonly endpointId: string;
  /** The last delivery whose first attempt began. */
  readonly afterSequence: number;
}

const DELIVERY = `d.endpoint_id as "endpointId", d.id as "deliveryId", d.event_at::text as "eventAt",
  d.event_id as "eventId", d.sequence::float8 as sequence, d.attempt_count as "attemptCount",
  d.scheduled_attempts as "scheduledAttempts", d.unrecorded_attempts as "unrecordedAttempts",
  (extract(epoch from now() - d.event_at) * 1000)::float8 as "ageMs"`;

/**
 * The text of a delivery's event. `offset 0` makes PostgreSQL read it by its key, from the one partition of its time;
 * a plain join may read every event of every day, because it plans without knowing which partitions are left out.
 */
const eventOf = (delivery: string, condition = 'true'): string =>
  `select body from webhooks.events
  where id = ${delivery}."eventId" and created_at = ${delivery}."eventAt"::timestamptz and ${condition} offset 0`;

/**
 * The next first attempts of each lane, ascending: what is read does not grow with what waits. Rests on deliveries_first_idx
 * and the key of events. A delivery becomes visible with its lane's lock, so no lower sequence appears behind a higher one.
 */
export async function readFirsts(
  client: PoolClient,
  asked: readonly FirstsAsked[],
  max: { readonly rows: number; readonly bytes: number },
): Promise<FirstAttempt[]> {
  const { rows } = await client.query<FirstAttempt>({
    name: 'read_firsts',
    text: `select d.* from unnest($1::uuid[], $2::bigint[]) as asked(endpoint_id, after_sequence)
      cross join lateral (
        select next.*, event.body, null as "manualAt", (count(*) over ())::int as found,
          sum(octet_length(event.body)) over (order by next.sequence) - octet_length(event.body) as bytes_before
        from (
          select ${DELIVERY} from webhooks.deliveries d
          where d.endpoint_id = asked.endpoint_id and d.status = 'pending' and d.attempt_count = 0
            and d.sequence > asked.after_sequence
          order by d.sequence limit $3
        ) next cross join lateral (${eventOf('next')}) event
      ) d
      where bytes_before < $4 order by "endpointId", sequence`,
    values: [
      asked.map(({ endpointId }) => endpointId),
      asked.map(({ afterSequence }) => afterSequence),
      max.rows,
      max.bytes,
    ],
  });
  return rows;
}

/** The retries of each endpoint that are due first, and those that are not yet. Rests on deliveries_retry_idx. */
export async function readRetries(
  client: PoolClient,
  endpointIds: readonly string[],
  max: number,
): Promise<WaitingRetry[]> {
  const { rows } = await client.query<WaitingRetry>({
    name: 'read_retries',
    text: `select d.*, event.body from unnest($1::uuid[]) as asked(endpoint_id)
      cross join lateral (
        select ${DELIVERY},
          case when d.manual_at <= coalesce(d.scheduled_at, 'infinity') then d.manual_at::text end as "manualAt",
          (extract(epoch from least(d.scheduled_at, d.manual_at) - now()) * 1000)::float8 as "dueInMs"
        from webhooks.deliveries d
        where d.endpoint_id = asked.endpoint_id and d.status = 'pending' and d.attempt_count > 0
        order by least(d.scheduled_at, d.manual_at) limit $2
      ) d
      left join lateral (${eventOf('d', 'd."dueInMs" <= 0')}) event on true
      order by d."endpointId", d."dueInMs"`,
    values: [endpointIds, max],
  });
  return rows;
}

export type BegunAttempt = Pick<DueDelivery, 'deliveryId' | 'eventAt' | 'attemptCount'> & { readonly token: string };

/** Counts an attempt that begins. False when it must not begin: the delivery was settled, or the lane has another holder. */
export async function countBegun(pool: Pool, begun: BegunAttempt): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'count_begun',
    text: `update webhooks.deliveries d set unrecorded_attempts = unrecorded_attempts + 1
      from webhooks.lanes l where l.endpoint_id = d.endpoint_id and l.token = $4
        and d.id = $1 and d.event_at = $2 and d.attempt_count = $3 and d.status = 'pending'`,
    values: [begun.deliveryId, begun.eventAt, begun.attemptCount, begun.token],
  });
  return rowCount === 1;
}

import { randomBytes, randomUUID } from 'node:crypto';
import { eventually, receiver, type Receiver } from '@wts/testkit';
import type { Pool } from 'pg';
import { Registry } from 'prom-client';
import { disableRuleOf } from '../src/domain/disable-rule.ts';
import { parseRetrySchedule } from '../src/domain/schedule.ts';
import { parseSecretKeys, sealSecret } from '@wts/service-kit/sealing';
import { makeSecret } from '../src/domain/secrets.ts';
import { openLanes, type Lanes, type LanesOptions } from '../src/lanes/lanes.ts';
import { laneMetrics } from '../src/lanes/metrics.ts';
import type { DispatchLimits } from '../src/limits.ts';
import { LogAndEndpoints } from './log-and-endpoints.ts';
import { plainSender } from './plain-sender.ts';
import { quiet } from './quiet.ts';

export const KEY_TEXT = randomBytes(32).toString('base64');
const KEYS = parseSecretKeys(KEY_TEXT);
/** Eight attempts within a second. */
export const FAST_SCHEDULE = '50ms,60ms,70ms,80ms,90ms,100ms,110ms';
/** Attempts of a second, and leases in proportion. */
export const FAST: Partial<DispatchLimits> = {
  attemptMs: 1_000,
  leaseMs: 2_500,
  leaseSlackMs: 300,
  drainSlackMs: 1_000,
};
/** Longer than any attempt on a busy machine: only tests of late answers set less. The limits do not know it. */
export const ATTEMPT_MS = 20_000;
const DAYS_3 = 72 * 3_600_000;

export interface DeliveryState {
  readonly id: string;
  readonly eventId: string;
  readonly sequence: number;
  readonly status: string;
  readonly attemptCount: number;
  readonly scheduledAttempts: number;
  readonly scheduledInMs: number | null;
  readonly isManual: boolean;
  readonly lastError: string | null;
  readonly lastStatusCode: number | null;
}

export interface EndpointState {
  readonly enabled: boolean;
  readonly hasSucceeded: boolean;
  readonly consecutiveFailures: number;
  readonly failingSince: Date | null;
  readonly disabledReason: string | null;
  readonly disabledAt: Date | null;
  readonly updatedAt: Date;
}

type LanesSettings = Partial<Omit<LanesOptions, 'schedule' | 'limits'>> & {
  readonly schedule?: string;
  readonly disableAfterMs?: number;
  readonly limits?: Partial<DispatchLimits>;
};

/** Lanes over a real PostgreSQL, with endpoints that are real HTTP servers; time is scaled by settings. */
export class LaneSystem implements AsyncDisposable {
  readonly db: LogAndEndpoints;
  readonly #stack: AsyncDisposableStack;

  private constructor(db: LogAndEndpoints, stack: AsyncDisposableStack) {
    this.db = db;
    this.#stack = stack;
  }

  static async open(label: string, adminUrl?: string): Promise<LaneSystem> {
    const stack = new AsyncDisposableStack();
    const db = stack.use(await LogAndEndpoints.open(label, adminUrl));
    // As the service does it: a connection that is lost in the middle of its use must not end the process.
    db.pool.on('connect', (client) => client.on('error', () => {}));
    return new LaneSystem(db, stack);
  }

  get databaseUrl(): string {
    return this.db.database.urlOf('wts_webhooks');
  }

  get pool(): Pool {
    return this.db.pool;
  }

  async receiver(): Promise<Receiver> {
    return this.#stack.use(await receiver());
  }

  /** An endpoint with a consumer of its own. */
  async made(): Promise<{ readonly id: string; readonly consumer: Receiver }> {
    const consumer = await this.receiver();
    return { id: await this.endpoint(consumer.url), consumer };
  }

  /** A replica; closed with the system, or before. */
  lanes({ schedule = FAST_SCHEDULE, disableAfterMs = DAYS_3, limits, ...options }: LanesSettings = {}): Lanes {
    const parsed = parseRetrySchedule(schedule);
    const stopping = new AbortController();
    const opened = openLanes({
      pool: this.pool,
      send: plainSender(ATTEMPT_MS),
      keys: KEYS,
      schedule: parsed,
      disableRule: disableRuleOf(disableAfterMs, parsed),
      metrics: laneMetrics(new Registry()),
      log: quiet,
      signal: stopping.signal,
      limits: { ...FAST, ...limits },
      ...options,
    });
    this.#stack.use(opened);
    return opened;
  }

  /** Of an owner of its own, unless one is given. */
  async endpoint(
    url: string,
    fields: { readonly workspaceId?: string; readonly ownerId?: string } = {},
  ): Promise<string> {
    const id = await this.db.endpoint({ workspaceId: randomUUID(), ...fields });
    await this.pool.query('update webhooks.endpoints set url = $2 where id = $1', [id, url]);
    await this.addSecret(id);
    return id;
  }

  async addSecret(endpointId: string): Promise<Buffer> {
    const secret = makeSecret();
    const { keyId, sealed } = sealSecret(KEYS, endpointId, secret);
    const sql = 'insert into webhooks.secrets (id, endpoint_id, key_id, sealed) values ($1, $2, $3, $4)';
    await this.pool.query(sql, [randomUUID(), endpointId, keyId, sealed]);
    return secret;
  }

  /** Events of the endpoint, in order and in one transaction; their ids. */
  async enqueue(endpointId: string, count = 1): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    await this.pool.query(
      `with lane as (
        update webhooks.lanes set last_sequence = last_sequence + $3::int, wakes = wakes + 1, due_at = now()
        where endpoint_id = $1 returning last_sequence - $3::int as before
      ),
      event as (
        insert into webhooks.events (id, created_at, workspace_id, type, body)
        select id, now(), gen_random_uuid(), 'task.created', json_build_object('id', id)::text from unnest($2::uuid[]) id
      )
      insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, created_at)
      select gen_random_uuid(), $1, id, now(), 'task.created', before + nth, now() + nth * interval '1 millisecond'
      from lane cross join unnest($2::uuid[]) with ordinality as event(id, nth)`,
      [endpointId, ids, count],
    );
    return ids;
  }

  async deliveries(endpointId: string): Promise<DeliveryState[]> {
    const { rows } = await this.pool.query<DeliveryState>(
      `select id, event_id as "eventId", sequence::float8, status, attempt_count as "attemptCount",
        scheduled_attempts as "scheduledAttempts", manual_at is not null as "isManual", last_error as "lastError",
        last_status_code as "lastStatusCode", (extract(epoch from scheduled_at - now()) * 1000)::float8 as "scheduledInMs"
      from webhooks.deliveries where endpoint_id = $1 order by sequence`,
      [endpointId],
    );
    return rows;
  }

  async state(endpointId: string): Promise<EndpointState> {
    const { rows } = await this.pool.query<EndpointState>(
      `select enabled, has_succeeded as "hasSucceeded", consecutive_failures as "consecutiveFailures",
        failing_since as "failingSince", disabled_reason as "disabledReason", disabled_at as "disabledAt",
        updated_at as "updatedAt"
      from webhooks.endpoints where id = $1`,
      [endpointId],
    );
    const [row] = rows;
    if (row === undefined) throw new Error(`no endpoint ${endpointId}`);
    return row;
  }

  /** Resolves when every delivery of the endpoint is what is asked for. */
  async untilAll(endpointId: string, status: string): Promise<DeliveryState[]> {
    return eventually(async () => {
      const all = await this.deliveries(endpointId);
      return all.every((delivery) => delivery.status === status) ? all : null;
    });
  }

  async attempts(endpointId: string): Promise<{ deliveryId: string; number: number; error: string | null }[]> {
    const { rows } = await this.pool.query<{ deliveryId: string; number: number; error: string | null }>(
      `select delivery_id as "deliveryId", number, error from webhooks.attempts where endpoint_id = $1
      order by delivery_id, number`,
      [endpointId],
    );
    return rows;
  }

  /** As the management does it: one more attempt of a delivery. */
  async retry(endpointId: string, deliveryId: string): Promise<void> {
    await this.pool.query(
      `update webhooks.deliveries set manual_at = now(), status = 'pending', completed_at = null
      where id = $1 and attempt_count > 0`,
      [deliveryId],
    );
    await this.wakeLane(endpointId);
  }

  async setEnabled(endpointId: string, isEnabled: boolean): Promise<void> {
    await this.pool.query(
      `update webhooks.endpoints set enabled = $2, consecutive_failures = 0, failing_since = null, last_failure_at = null,
        disabled_at = case when $2 then null else now() end, disabled_reason = null where id = $1`,
      [endpointId, isEnabled],
    );
    if (isEnabled) await this.wakeLane(endpointId);
  }

  async wakeLane(endpointId: string): Promise<void> {
    await this.pool.query('update webhooks.lanes set due_at = now(), wakes = wakes + 1 where endpoint_id = $1', [
      endpointId,
    ]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

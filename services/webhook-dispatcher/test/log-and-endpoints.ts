import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ActionName } from '@wts/contracts';
import { testDatabase, type TestDatabase } from '@wts/testkit';
import { Pool } from 'pg';
import { inTransaction } from '../src/store/transaction.ts';

export interface EntryFields {
  readonly workspaceId?: string | null;
  readonly groupId?: string;
  readonly model?: string;
  readonly modelId?: string;
  readonly action?: ActionName;
  readonly record?: object;
  readonly recordText?: string;
  readonly changed?: readonly string[];
  readonly eventId?: string;
  readonly createdAt?: string;
}

export interface EndpointFields {
  readonly workspaceId?: string;
  readonly eventTypes?: readonly string[];
  readonly enabled?: boolean;
  readonly deleted?: boolean;
  /** Default: the head of the log. */
  readonly since?: number;
  /** Of the workspace, when this is its first endpoint. Default: an owner of its own. */
  readonly ownerId?: string;
}

export interface DeliveryRow {
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly sequence: number;
  readonly createdAt: Date;
  readonly position: string | null;
  readonly body: string;
}

/**
 * A database with a log that the test writes as the superuser, because only the commit of the sync service may, and with
 * endpoints as management makes them. `pool` has the rights of the dispatcher.
 */
export class LogAndEndpoints implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly admin: Pool;
  readonly pool: Pool;
  readonly workspaceId = randomUUID();
  /** The places of all entries, in order. */
  readonly appended: number[] = [];

  private constructor(database: TestDatabase) {
    this.database = database;
    this.admin = new Pool({ connectionString: database.url });
    this.pool = new Pool({ connectionString: database.urlOf('wts_webhooks') });
    for (const pool of [this.admin, this.pool]) pool.on('error', () => {});
  }

  static async open(label: string, adminUrl?: string): Promise<LogAndEndpoints> {
    const where = adminUrl === undefined ? {} : { adminUrl };
    const store = new LogAndEndpoints(await testDatabase(label, { migrated: true, ...where }));
    // A new epoch begins a million places on.
    await store.admin.query(`drop table sync.sync_actions_0;
      create table sync.sync_actions_all partition of sync.sync_actions for values from (0) to (1000000000)`);
    return store;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.admin.end(), this.pool.end()]);
    await this.database.drop();
  }

  /** Removes all endpoints with their history, and the partitions of days; the log stays. */
  async clear(): Promise<void> {
    const { rows } = await this.admin.query<{ name: string; isDay: boolean }>(
      `select oid::regclass::text as name, relispartition and relname not like '%default' as "isDay" from pg_class
      where relnamespace = 'webhooks'::regnamespace and relkind in ('r', 'p') and relname not like '%migrations%'`,
    );
    const days = rows.filter(({ isDay }) => isDay).map(({ name }) => name);
    if (days.length > 0) await this.admin.query(`drop table ${days.join(', ')}`);
    const tables = rows.filter(({ isDay }) => !isDay).map(({ name }) => name);
    await this.admin.query(`truncate ${tables.join(', ')}`);
    this.appended.length = 0;
  }

  async epoch(): Promise<string> {
    const { rows } = await this.admin.query<{ epoch: string }>('select epoch::text from sync.log_state');
    return rows[0]?.epoch ?? '';
  }

  async head(): Promise<number> {
    const { rows } = await this.admin.query<{ head: string }>(
      'select greatest(coalesce(max(sync_id), 0), (select began_at from sync.log_state)) as head from sync.sync_actions',
    );
    return Number(rows[0]?.head);
  }

  /** Appends entries in one commit; their places. */
  append(entries: readonly EntryFields[]): Promise<number[]> {
    return inTransaction(this.admin, async (client) => {
      const places: number[] = [];
      await client.query('lock table sync.log_lock in share update exclusive mode');
      for (const entry of entries) places.push(await this.#append(client, entry, places.length === 0));
      this.appended.push(...places);
      return places;
    });
  }

  async #append(client: Pick<Pool, 'query'>, fields: EntryFields, isFirst: boolean): Promise<number> {
    const { workspaceId = this.workspaceId, model = 'Task', modelId = randomUUID(), action = 'INSERT' } = fields;
    const record = fields.recordText ?? JSON.stringify(fields.record ?? { id: modelId, title: 'A task', workspaceId });
    const { rows } = await client.query<{ at: string }>(
      `insert into sync.sync_actions (sync_id, event_id, workspace_id, group_id, model, model_id, action, record, data,
        changed, actor_id, client_id, client_tx_id, created_at)
      select greatest(coalesce(max(sync_id), 0), (select began_at from sync.log_state)) + 1
        + case when ${isFirst} then (select floor(random() * (gap_max + 1))::bigint from sync.log_state) else 0 end, $1, $2, $3, $4, $5, $6, $7, null,
        $8, $9, 'test', 'test', coalesce($10::timestamptz, date_trunc('milliseconds', clock_timestamp()))
      from sync.sync_actions returning sync_id as at`,
      [
        fields.eventId ?? randomUUID(),
        workspaceId,
        fields.groupId ?? workspaceId ?? randomUUID(),
        model,
        modelId,
        action,
        record,
        fields.changed ?? [],
        randomUUID(),
        fields.createdAt ?? null,
      ],
    );
    return Number(rows[0]?.at);
  }

  async endpoint(fields: EndpointFields = {}): Promise<string> {
    const id = randomUUID();
    const { workspaceId = this.workspaceId, eventTypes = [], enabled = true, deleted = false } = fields;
    const since = fields.since ?? (await this.head());
    await this.pool.query(
      'insert into webhooks.workspaces (workspace_id, owner_id, position) values ($1, $2, $3) on conflict do nothing',
      [workspaceId, fields.ownerId ?? workspaceId, since],
    );
    await this.pool.query(
      `insert into webhooks.endpoints
        (id, workspace_id, url, description, event_types, enabled, since_position, created_by, deleted_at)
      values ($1, $2, 'https://example.com', '', $3, $4, $5, $1, case when $6 then now() end)`,
      [id, workspaceId, eventTypes, enabled, since, deleted],
    );
    await this.pool.query('insert into webhooks.lanes (endpoint_id) values ($1)', [id]);
    return id;
  }

  /** Null for a workspace that is not followed. */
  async cursor(workspaceId = this.workspaceId): Promise<number | null> {
    const sql = 'select position from webhooks.workspaces where workspace_id = $1';
    const { rows } = await this.pool.query<{ position: string }>(sql, [workspaceId]);
    return rows[0] === undefined ? null : Number(rows[0].position);
  }

  /** In the order in which they are attempted. */
  async deliveries(endpointId?: string): Promise<DeliveryRow[]> {
    const { rows } = await this.pool.query<Omit<DeliveryRow, 'sequence'> & { sequence: string }>(
      `select endpoint_id as "endpointId", event_id as "eventId", event_type as "eventType", sequence,
        deliveries.created_at as "createdAt", position, body
      from webhooks.deliveries join webhooks.events on events.id = event_id and events.created_at = event_at
      where $1::uuid is null or endpoint_id = $1 order by endpoint_id, sequence`,
      [endpointId ?? null],
    );
    return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }));
  }

  /** Every endpoint has these places of the log, each once and in order, with ascending sequences and times. */
  async assertDelivered(endpointId: string, places: readonly number[]): Promise<void> {
    const all = await this.deliveries(endpointId);
    assertAscending(all);
    assert.deepEqual(
      all.flatMap(({ position }) => (position === null ? [] : [Number(position)])),
      places,
    );
  }
}

/** Of one endpoint: sequences and times, in whole milliseconds, ascend. */
export function assertAscending(deliveries: readonly DeliveryRow[]): void {
  for (const [index, { sequence, createdAt }] of deliveries.entries()) {
    const before = deliveries[index - 1];
    if (before === undefined) continue;
    assert.ok(sequence > before.sequence, `${sequence} follows ${before.sequence}`);
    assert.ok(createdAt.getTime() > before.createdAt.getTime(), `${createdAt.toISOString()} at ${sequence}`);
  }
}

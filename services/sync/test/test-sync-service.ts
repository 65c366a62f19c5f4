import type { DeltasReply, InternalCommitReply, InternalMutation, Principal, Role } from '@wts/contracts';
import { HEADERS, SCOPES, syncApi } from '@wts/contracts';
import { startService, type RunningService } from '@wts/service-kit/life';
import { testDatabase, type TestDatabase, minterFor, tokenEnvironment } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { Pool } from 'pg';
import { syncService } from '../src/service.ts';

/** No server listens here, because snapshots need neither NATS nor the auth service. */
const NOWHERE = '127.0.0.1:9';

export interface Line {
  readonly __class?: string;
  readonly id?: string;
  readonly [field: string]: unknown;
}

export interface Bootstrap {
  readonly metadata: {
    readonly lastSyncId: string;
    readonly subscribedSyncGroups: readonly string[];
    readonly schemaHash: string;
    readonly databaseVersion: number;
    readonly epoch: string;
  };
  readonly rows: readonly Line[];
  readonly end: Line;
}

type Payload = Record<string, unknown>;

/** The sync service on a database of its own, called as the gateway calls it. */
export class TestSyncService implements AsyncDisposable {
  readonly database: TestDatabase;
  service: RunningService;
  /** As the superuser. */
  readonly sql: Pool;
  readonly #owned: AsyncDisposableStack;
  #written: string[] = [];

  private constructor(database: TestDatabase, service: RunningService, sql: Pool, owned: AsyncDisposableStack) {
    this.database = database;
    this.service = service;
    this.sql = sql;
    this.#owned = owned;
  }

  /** `adminUrl`: the URL of the superuser of a server of its own. */
  static async open(label: string, settings: Record<string, string> = {}, adminUrl?: string): Promise<TestSyncService> {
    await using opening = new AsyncDisposableStack();
    const where = adminUrl === undefined ? {} : { adminUrl };
    const database = opening.use(await testDatabase(label, { migrated: true, ...where }));
    const sql = opening.adopt(new Pool({ connectionString: database.url, max: 3 }), (pool) => pool.end());
    const service = await start(database, settings);
    return new TestSyncService(database, service, sql, opening.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.service.close();
    await this.#owned.disposeAsync();
  }

  /** Stops the service, runs `meanwhile`, and starts the service with the settings it returns. */
  async restart(meanwhile: () => Promise<Record<string, string>>): Promise<void> {
    await this.service.close();
    for (const _ of Array.from({ length: this.sql.idleCount })) (await this.sql.connect()).release(true);
    this.#written = [];
    this.service = await start(this.database, await meanwhile(), (line) => void this.#written.push(line));
  }

  /** Locks a table until the work is done, so that its readers wait. */
  async whileHeld(table: string, work: () => Promise<void>): Promise<void> {
    const holder = await this.sql.connect();
    try {
      await holder.query(`begin; lock table ${table} in access exclusive mode`);
      await work();
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  }

  /** The log lines of the service since it was restarted. */
  logged(): string {
    return this.#written.join('');
  }

  /** Commits a unit with the authority of a service. */
  async commit(mutations: readonly InternalMutation[], userId: string = randomUUID()): Promise<InternalCommitReply> {
    const unit = { clientId: 'test', clientTxId: randomUUID(), authority: 'service', mutations };
    const answer = await this.call(syncApi.internalCommit.path, { principal: caller(userId), body: unit });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as InternalCommitReply;
  }

  /** Sends changes as a client does, all of them at once. */
  mutate(userId: string, changes: readonly object[]): Promise<Response> {
    const sending = (): object => ({ clientId: 'test', clientTxId: randomUUID(), payload: {} });
    const transactions = changes.map((one) => ({ ...sending(), ...one }));
    return this.call('/sync/mutate', { principal: caller(userId), body: { batchId: randomUUID(), transactions } });
  }

  async insert(modelName: string, payload: Payload, userId?: string): Promise<string> {
    const modelId = randomUUID();
    await this.commit([{ modelName, modelId, action: 'INSERT', payload: { id: modelId, ...payload } }], userId);
    return modelId;
  }

  person(name = 'Ada'): Promise<string> {
    return this.insert('User', { name, email: null });
  }

  async workspace(owner: string): Promise<string> {
    const workspaceId = await this.insert('Workspace', { name: 'Home', urlKey: `home-${randomUUID()}` }, owner);
    await this.join(owner, workspaceId, 'owner');
    return workspaceId;
  }

  join(userId: string, workspaceId: string, role: Role = 'member'): Promise<string> {
    return this.insert('WorkspaceMember', { workspaceId, userId, role });
  }

  call(path: string, request: ServiceCallOptions): Promise<Response> {
    const { principal, body, headers, signal, method } = request;
    return fetch(`${this.service.url}${path}`, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        'accept-encoding': 'identity',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        [HEADERS.principal]: path.startsWith('/internal/') ? mintAsWorkspace(principal) : mintAsGateway(principal),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
  }

  /** The answer as a paused stream, so that nothing of the body is read before the test does. */
  async raw(path: string, principal: Principal, headers: Record<string, string> = {}): Promise<IncomingMessage> {
    const sent = request(`${this.service.url}${path}`, {
      headers: { [HEADERS.principal]: mintAsGateway(principal), ...headers },
      agent: false,
    });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer;
  }

  /** Starts a request whose body has this length and never ends. */
  begin(path: string, principal: Principal, bytes: number): ClientRequest {
    const sent = request(`${this.service.url}${path}`, {
      method: 'POST',
      headers: {
        [HEADERS.principal]: mintAsGateway(principal),
        'content-type': 'application/json',
        'content-length': bytes,
      },
      agent: false,
    });
    sent.on('error', () => {});
    sent.write('{');
    return sent;
  }

  /** Inserts many tasks directly, without log entries, for answers of a certain size. */
  async fillTasks(workspaceId: string, count: number, descriptionBytes = 400): Promise<void> {
    const record = {
      workspaceId,
      projectId: null,
      description: 'd'.repeat(descriptionBytes),
      labelIds: [],
      createdAt: '2026-11-21T09:00:00.000Z',
    };
    await this.sql.query(
      `insert into sync.tasks (id, workspace_id, group_id, number, title, creator_id, start, start_bucket, priority,
         label_ids, repeat_from, repeat_waiting, sort_order, created_at, updated_at, record)
       select id, $1::uuid, $1::uuid, n, 'Task', $1, 'started', 'today', 0, '{}', 'date', false, '', now(), now(),
         ('{"id":"' || id || '","number":' || n || ',' || substr($3, 2))::json
       from (select gen_random_uuid() as id, n from generate_series(1000001, 1000000 + $2::int) n) made`,
      [workspaceId, count, JSON.stringify(record)],
    );
    await this.sql.query('vacuum analyze sync.tasks');
  }

  /** Running statements of the service in PostgreSQL, and its open transactions. */
  async busyConnections(): Promise<number> {
    const { rows } = await this.sql.query<{ count: number }>(
      `select count(*)::int from pg_stat_activity where datname = current_database() and application_name like 'wts-sync%'
         and (state like 'idle in transaction%' or (state = 'active' and query like '%copy (%'))`,
    );
    return rows[0]?.count ?? 0;
  }

  async bootstrap(userId: string, query: Record<string, string> = {}, limitedTo?: string): Promise<Bootstrap> {
    const principal = caller(userId, limitedTo);
    const answer = await this.call(`/sync/bootstrap?${new URLSearchParams(query).toString()}`, { principal });
    assert.equal(answer.status, 200, await answer.clone().text());
    return parseBootstrap(await answer.text());
  }

  async deltas(userId: string, query: Record<string, string>, limitedTo?: string): Promise<DeltasReply> {
    const principal = caller(userId, limitedTo);
    const answer = await this.call(`/sync/deltas?${new URLSearchParams(query).toString()}`, { principal });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as DeltasReply;
  }

  async batch(userId: string, requests: readonly object[], more: object = {}): Promise<Line[]> {
    const answer = await this.call('/sync/batch', { principal: caller(userId), body: { requests, ...more } });
    assert.equal(answer.status, 200, await answer.clone().text());
    return parseLines(await answer.text());
  }
}

function start(
  database: TestDatabase,
  settings: Record<string, string>,
  write: (line: string) => void = () => undefined,
): Promise<RunningService> {
  const env = {
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'fatal',
    ...tokenEnvironment('sync'),
    DATABASE_URL: database.urlOf('wts_sync'),
    NATS_URL: `nats://${NOWHERE}`,
    AUTH_SERVICE_URL: `http://${NOWHERE}`,
    SHUTDOWN_GRACE_MS: '500',
    ...settings,
  };
  return startService(syncService, env, { logTo: { write } });
}

interface ServiceCallOptions {
  readonly principal: Principal;
  /** GET, or with a body POST. */
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export function caller(userId: string, workspaceId?: string): Principal {
  return {
    userId,
    scopes: SCOPES,
    credential: { kind: 'jwt', id: userId },
    ...(workspaceId === undefined ? {} : { workspaceId }),
  };
}

const mintAsGateway = minterFor('gateway', 'sync');
const mintAsWorkspace = minterFor('workspace', 'sync');

export function parseLines(text: string): Line[] {
  assert.ok(text === '' || text.endsWith('\n'), 'the last line ends');
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** Parses a bootstrap: metadata first, rows, end last; anything else fails. */
export function parseBootstrap(text: string | Buffer): Bootstrap {
  const lines = parseLines(typeof text === 'string' ? text : gunzipSync(text).toString());
  const rows = lines.slice(1, -1);
  const end = lines.at(-1) as Line;
  assert.deepEqual(end, { type: 'end', rowCount: rows.length });
  for (const row of rows) assert.equal(typeof row.__class, 'string');
  return { metadata: lines[0] as unknown as Bootstrap['metadata'], rows, end };
}

export function idsOf(rows: readonly Line[], modelName?: string): string[] {
  return rows.filter(({ __class }) => modelName === undefined || __class === modelName).map(({ id }) => String(id));
}

import { LIMITS, webhookApi, type Principal } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { principalOf, TestDispatcher } from './test-dispatcher.ts';

const {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listAttempts,
  listDeliveries,
  listEndpoints,
  listEventTypes,
  replayDeliveries,
  retryDelivery,
  rotateSecret,
  testEndpoint,
  updateEndpoint,
} = webhookApi;

describe('management of webhook endpoints', () => {
  let dispatcher: TestDispatcher;
  let home: { id: string; owner: Principal; admin: Principal; member: Principal; guest: Principal };
  const outsider = principalOf(randomUUID());

  before(async () => (dispatcher = await TestDispatcher.open('webhook-management')));
  beforeEach(async () => (home = await dispatcher.workspace('owner', 'admin', 'member', 'guest')));
  after(() => dispatcher[Symbol.asyncDispose]());

  const url = 'https://hooks.example.com/tasks';

  it('answers a creation with the endpoint and its secret, which no later answer holds [webhooks.create.answer, webhooks.endpoint.fields, webhooks.endpoint.no-secret, webhooks.read.answer, webhooks.list.by-workspace]', async () => {
    const { id: workspaceId, owner } = await dispatcher.workspace('owner');
    const body = { url, workspaceId, description: 'Board', eventTypes: ['task.created' as const] };
    const made = await dispatcher.ask(owner, createEndpoint, { body });
    assert.equal(made.status, 201);
    const { endpoint, secret } = made.body;
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(endpoint, {
      id: endpoint.id,
      ...body,
      enabled: true,
      consecutiveFailures: 0,
      disabledAt: null,
      disabledReason: null,
      createdAt: endpoint.createdAt,
      updatedAt: endpoint.createdAt,
    });
    const params = { id: endpoint.id };
    const read = await dispatcher.ask(owner, getEndpoint, { params });
    assert.deepEqual(read.body, { ok: true, endpoint });
    const listed = await dispatcher.ask(owner, listEndpoints, { query: { workspaceId } });
    assert.deepEqual(listed.body, { ok: true, endpoints: [endpoint] });
    assert.ok(
      dispatcher.logs.every((line) => !line.includes(secret)),
      'a log line holds the secret',
    );
  });

  it('needs the scope admin and the role owner or admin, and tells a person outside nothing [webhooks.manage.who, webhooks.manage.not-found]', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    const tries = (who: Principal) =>
      Promise.all([
        dispatcher.ask(who, listEndpoints, { query: { workspaceId: home.id } }),
        dispatcher.ask(who, createEndpoint, { body: { url, workspaceId: home.id } }),
        dispatcher.ask(who, getEndpoint, { params }),
        dispatcher.ask(who, updateEndpoint, { params, body: { description: 'x' } }),
        dispatcher.ask(who, rotateSecret, { params }),
        dispatcher.ask(who, testEndpoint, { params }),
        dispatcher.ask(who, listDeliveries, { params }),
        dispatcher.ask(who, replayDeliveries, { params, body: { since: '2026-01-01T00:00:00Z' } }),
        dispatcher.ask(who, deleteEndpoint, { params }),
      ]);
    const codes = async (who: Principal) => [...new Set((await tries(who)).map(({ code }) => code))];
    assert.deepEqual(await codes(home.member), ['forbidden']);
    assert.deepEqual(await codes(home.guest), ['forbidden']);
    assert.deepEqual(await codes(outsider), ['not_found']);
    assert.deepEqual(await codes(principalOf(home.owner.userId, { scopes: ['read', 'write'] })), [
      'insufficient_scope',
    ]);
    const elsewhere = principalOf(home.owner.userId, { workspaceId: randomUUID() });
    assert.deepEqual(await codes(elsewhere), ['not_found']);
    const byAdmin = await tries(home.admin);
    assert.deepEqual(
      byAdmin.map(({ code }) => code).filter((code) => code !== undefined && code !== 'not_found'),
      [],
    );
    const gone = await dispatcher.ask(home.owner, getEndpoint, { params });
    assert.equal(gone.status, 404);
  });

  it('keeps a workspace at ten endpoints under twenty parallel creations [webhooks.endpoint.limit] [errors.402.endpoint-limit]', async () => {
    const { id: workspaceId, owner } = await dispatcher.workspace('owner');
    const made = await Promise.all(
      Array.from({ length: 20 }, () => dispatcher.ask(owner, createEndpoint, { body: { url, workspaceId } })),
    );
    const codes = made.map(({ code }) => code ?? 'created');
    assert.equal(codes.filter((code) => code === 'created').length, LIMITS.webhookEndpointsMax);
    assert.equal(codes.filter((code) => code === 'endpoint_limit_reached').length, 10);
    assert.equal(made.find(({ code }) => code !== undefined)?.status, 402);
    const first = made.find(({ status }) => status === 201);
    await dispatcher.ask(owner, deleteEndpoint, { params: { id: first?.body.endpoint.id ?? '' } });
    const again = await dispatcher.ask(owner, createEndpoint, { body: { url, workspaceId } });
    assert.equal(again.status, 201, 'a deletion makes room');
  });

  it('refuses addresses that are not public HTTPS, unknown fields and types, and descriptions over 255 characters [webhooks.create.url-https, webhooks.create.url-public, webhooks.create.required, webhooks.endpoint.description-max, limits.webhook.description, webhooks.update.no-extra]', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const bodies: Record<string, object> = {
      http: { url: 'http://hooks.example.com' },
      loopback: { url: 'https://127.0.0.1/' },
      private: { url: 'https://10.0.0.1/' },
      'link-local': { url: 'https://169.254.169.254/' },
      'IPv6 loopback': { url: 'https://[::1]/' },
      'a port of another protocol': { url: 'https://hooks.example.com:22/' },
      'an unknown type': { url, eventTypes: ['task.exploded'] },
      'the type that is never filtered': { url, eventTypes: ['endpoint.test'] },
      'a type twice': { url, eventTypes: ['task.created', 'task.created'] },
      'a long description': { url, description: 'x'.repeat(256) },
      'an unknown field': { url, secret: 'mine' },
    };
    for (const [name, body] of Object.entries(bodies)) {
      const create = { body: { workspaceId: home.id, ...body } as never };
      const made = await dispatcher.ask(home.owner, createEndpoint, create);
      assert.equal(made.code, 'validation_failed', name);
      const change = { params: { id: endpoint.id }, body: body as never };
      assert.equal((await dispatcher.ask(home.owner, updateEndpoint, change)).code, 'validation_failed', name);
    }
    const lacking = { body: { url } as never };
    assert.equal((await dispatcher.ask(home.owner, createEndpoint, lacking)).code, 'validation_failed');
    const unclear = {
      workspaceId: home.id,
      url: 'https://bücher.example/',
      eventTypes: ['task.created', 'task.created'],
    };
    assert.equal(
      (await dispatcher.ask(home.owner, createEndpoint, { body: unclear as never })).message,
      'body/url must be an absolute URL in ASCII, such as https://example.com/hook; other characters are encoded; body/eventTypes must not contain an item twice',
    );
    const fits = { body: { url, workspaceId: home.id, description: '🙂'.repeat(255) } };
    assert.equal((await dispatcher.ask(home.owner, createEndpoint, fits)).status, 201);
  });

  it('changes what an update names and nothing else; enabling clears the failure count [webhooks.update.optional, webhooks.update.re-enable]', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    const change = async (body: object) =>
      (await dispatcher.ask(home.owner, updateEndpoint, { params, body })).body.endpoint;
    assert.deepEqual({ ...(await change({})), updatedAt: '' }, { ...endpoint, updatedAt: '' });
    assert.equal((await change({ description: 'New' })).description, 'New');
    assert.deepEqual((await change({ eventTypes: ['task.deleted'] })).eventTypes, ['task.deleted']);
    assert.deepEqual((await change({ eventTypes: [] })).eventTypes, []);
    const off = await change({ enabled: false });
    assert.equal(off.enabled, false);
    assert.notEqual(off.disabledAt, null);
    assert.equal(off.disabledReason, null);
    await dispatcher.store.pool.query(
      `update webhooks.endpoints set consecutive_failures = 9, failing_since = now(), disabled_reason = 'gone' where id = $1`,
      [endpoint.id],
    );
    const on = await change({ enabled: true });
    assert.deepEqual(
      [on.enabled, on.consecutiveFailures, on.disabledAt, on.disabledReason, on.url],
      [true, 0, null, null, endpoint.url],
    );
  });

  it('knows no success of an endpoint at a new origin, and keeps it at another path', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    const { pool } = dispatcher.store;
    await pool.query('update webhooks.endpoints set has_succeeded = true where id = $1', [endpoint.id]);
    const known = async (body: object) => {
      await dispatcher.ask(home.owner, updateEndpoint, { params, body });
      const sql = 'select has_succeeded as known from webhooks.endpoints where id = $1';
      return (await pool.query<{ known: boolean }>(sql, [endpoint.id])).rows[0]?.known;
    };
    assert.equal(await known({ url: endpoint.url, description: 'The same address' }), true);
    assert.equal(await known({ url: `${endpoint.url}/new` }), true);
    const moved = new URL(endpoint.url);
    moved.port = '8443';
    assert.equal(await known({ url: moved.href }), false);
  });

  it('finds no endpoint to rotate while it is deleted', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
      const params = { id: endpoint.id };
      const [, ...rotations] = await Promise.all([
        dispatcher.ask(home.owner, deleteEndpoint, { params }),
        ...[1, 2, 3].map(() => dispatcher.ask(home.owner, rotateSecret, { params })),
      ]);
      for (const { status } of rotations) assert.ok(status === 200 || status === 404, `${status}`);
    }
  });

  it('gives a new secret at a rotation, keeps five in force at most, and seals all of them [webhooks.rotate.answer, webhooks.secret.at-rest]', async () => {
    const { endpoint, secret } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    const seen = new Set([secret]);
    for (let count = 1; count < LIMITS.webhookSecretsMax; count += 1) {
      const rotated = await dispatcher.ask(home.owner, rotateSecret, { params });
      assert.equal(rotated.status, 200);
      seen.add(rotated.body.secret);
    }
    assert.equal(seen.size, LIMITS.webhookSecretsMax);
    const sixth = await dispatcher.ask(home.owner, rotateSecret, { params });
    assert.equal(sixth.code, 'conflict');
    const { rows } = await dispatcher.store.pool.query<{ sealed: Buffer; expires: number | null }>(
      `select sealed, extract(epoch from expires_at - now())::float8 / 3600 as expires from webhooks.secrets where endpoint_id = $1`,
      [endpoint.id],
    );
    assert.equal(rows.filter(({ expires }) => expires === null).length, 1, 'one is current');
    for (const { expires } of rows) assert.ok(expires === null || (expires > 23.9 && expires <= 24));
    const keys = [...seen].map((text) => Buffer.from(text.slice(6), 'base64'));
    for (const { sealed } of rows)
      assert.ok(
        keys.every((key) => !sealed.includes(key)),
        'a secret stands in clear',
      );
  });

  it('lists the event types to a caller without credential [webhooks.event-types.list]', async () => {
    const anonymous = principalOf('', { scopes: [] });
    const { status, body } = await dispatcher.ask(anonymous, listEventTypes, {});
    assert.equal(status, 200);
    assert.equal(body.eventTypes.length, 13);
    assert.ok(!body.eventTypes.includes('endpoint.test'));
  });

  it('queues a test event, lists it, and gives its attempts [webhooks.test.queued, webhooks.deliveries.fields, webhooks.deliveries.status, webhooks.test.never-filtered]', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    await dispatcher.ask(home.owner, updateEndpoint, { params, body: { eventTypes: ['task.created'] } });
    const queued = await dispatcher.ask(home.owner, testEndpoint, { params });
    assert.equal(queued.status, 202);
    const { delivery } = queued.body;
    assert.equal(delivery.eventType, 'endpoint.test');
    assert.equal(delivery.payload.id, delivery.eventId);
    assert.equal(delivery.payload.syncActionId, null);
    assert.equal(delivery.payload.data.object['id'], endpoint.id);
    const listed = await dispatcher.ask(home.owner, listDeliveries, { params });
    assert.deepEqual(
      listed.body.deliveries.map(({ id }) => id),
      [delivery.id],
    );
    // hooks.example.com has no address, so the attempt fails and says why.
    const place = { ...params, deliveryId: delivery.id };
    await eventually(async () => {
      const { body } = await dispatcher.ask(home.owner, listAttempts, { params: place });
      return body.attempts.length > 0 && body.attempts[0]?.error !== null;
    });
  });

  it('answers 404 for the delivery of another endpoint, and 409 while the endpoint is disabled [webhooks.retry.not-found, webhooks.retry.queued]', async () => {
    const [one, other] = [
      await dispatcher.endpoint(home.owner, home.id),
      await dispatcher.endpoint(home.owner, home.id),
    ];
    const params = { id: one.endpoint.id };
    const { delivery } = (await dispatcher.ask(home.owner, testEndpoint, { params })).body;
    const foreign = { params: { id: other.endpoint.id, deliveryId: delivery.id } };
    assert.equal((await dispatcher.ask(home.owner, retryDelivery, foreign)).status, 404);
    assert.equal((await dispatcher.ask(home.owner, listAttempts, foreign)).status, 404);
    const own = { params: { ...params, deliveryId: delivery.id } };
    assert.equal((await dispatcher.ask(home.owner, retryDelivery, own)).status, 202);
    await dispatcher.ask(home.owner, updateEndpoint, { params, body: { enabled: false } });
    assert.equal((await dispatcher.ask(home.owner, retryDelivery, own)).code, 'conflict');
    assert.equal((await dispatcher.ask(home.owner, testEndpoint, { params })).code, 'conflict');
  });

  it('pages backwards by `before` without a gap or a repetition, also over deliveries of one moment [webhooks.deliveries.page, limits.webhook.deliveries-page]', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    await dispatcher.store.pool.query(
      `with e as (insert into webhooks.events (id, created_at, workspace_id, position, type, body)
        select gen_random_uuid(), now(), $1::uuid, n, 'task.created', '{"id":"${randomUUID()}","type":"task.created",'
          || '"createdAt":"2026-01-01T00:00:00.000Z","apiVersion":"1","workspaceId":"' || $1::text || '","syncActionId":null,"data":{"object":{},"changes":[]}}'
        from generate_series(1, 130) n returning id, created_at, position)
      insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, status, created_at)
        select gen_random_uuid(), $2, id, created_at, 'task.created', position, 'failed',
          date_trunc('milliseconds', now()) + position * interval '1 millisecond' from e`,
      [home.id, endpoint.id],
    );
    const seen: string[] = [];
    const sizes: number[] = [];
    let before: string | undefined;
    for (;;) {
      const query = { limit: '50', ...(before === undefined ? {} : { before }) };
      const { deliveries } = (await dispatcher.ask(home.owner, listDeliveries, { params, query })).body;
      if (deliveries.length === 0) break;
      sizes.push(deliveries.length);
      seen.push(...deliveries.map(({ id }) => id));
      before = deliveries.at(-1)?.createdAt;
    }
    assert.deepEqual(sizes, [50, 50, 30]);
    assert.equal(new Set(seen).size, 130);
    const byDefault = (await dispatcher.ask(home.owner, listDeliveries, { params })).body.deliveries;
    assert.equal(byDefault.length, 25);
    const times = byDefault.map(({ createdAt }) => createdAt);
    assert.deepEqual(times, times.toSorted().toReversed(), 'the newest come first');
    for (const query of [
      { limit: '0' },
      { limit: '101' },
      { limit: 'x' },
      { before: 'yesterday' },
      { before: '2026-06-30T23:59:60Z' },
    ]) {
      const { code } = await dispatcher.ask(home.owner, listDeliveries, { params, query });
      assert.equal(code, 'validation_failed', JSON.stringify(query));
    }
  });

  it('queues one more attempt for each delivery that failed since a time', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    await dispatcher.store.pool.query(
      `insert into webhooks.deliveries (id, endpoint_id, event_id, event_at, event_type, sequence, status, attempt_count, created_at)
        select gen_random_uuid(), $1, gen_random_uuid(), now(), 'task.created', n, case when n % 2 = 0 then 'failed' else 'succeeded' end, 8,
          timestamptz '2026-06-01' + n * interval '1 day' from generate_series(1, 10) n`,
      [endpoint.id],
    );
    const replay = await dispatcher.ask(home.owner, replayDeliveries, {
      params,
      body: { since: '2026-06-05T00:00:00Z' },
    });
    assert.deepEqual([replay.status, replay.body], [202, { ok: true, count: 4 }]);
    const again = await dispatcher.ask(home.owner, replayDeliveries, {
      params,
      body: { since: '2027-01-01T00:00:00Z' },
    });
    assert.equal(again.body.count, 0);
  });

  it('can only be read and deleted in a deleted workspace [trash.workspace.read-only]', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    const { owner } = home;
    await dispatcher.store.admin.query(
      `insert into sync.workspaces (id, name, url_key, time_zone, archived_at, created_at, updated_at, workspace_id, group_id, record)
        values ($1, 'W', 'deleted-' || gen_random_uuid(), 'UTC', now(), now(), now(), $1, $1, '{}')`,
      [home.id],
    );
    const changes = [
      dispatcher.ask(owner, createEndpoint, { body: { url, workspaceId: home.id } }),
      dispatcher.ask(owner, updateEndpoint, { params, body: { description: 'X' } }),
      dispatcher.ask(owner, rotateSecret, { params }),
      dispatcher.ask(owner, testEndpoint, { params }),
      dispatcher.ask(owner, replayDeliveries, { params, body: { since: '2027-01-01T00:00:00Z' } }),
      dispatcher.ask(owner, retryDelivery, { params: { ...params, deliveryId: randomUUID() } }),
    ];
    for (const { code } of await Promise.all(changes)) assert.equal(code, 'workspace_archived');
    assert.equal((await dispatcher.ask(owner, getEndpoint, { params })).status, 200);
    assert.equal((await dispatcher.ask(home.member, updateEndpoint, { params, body: {} })).code, 'forbidden');
    assert.equal((await dispatcher.ask(owner, deleteEndpoint, { params })).status, 200);
  });

  it('removes an endpoint at once, with everything under its path [webhooks.delete.history]', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    const { delivery } = (await dispatcher.ask(home.owner, testEndpoint, { params })).body;
    assert.deepEqual((await dispatcher.ask(home.owner, deleteEndpoint, { params })).body, { ok: true });
    assert.equal((await dispatcher.ask(home.owner, deleteEndpoint, { params })).status, 404);
    assert.equal((await dispatcher.ask(home.owner, listDeliveries, { params })).status, 404);
    const place = { params: { ...params, deliveryId: delivery.id } };
    assert.equal((await dispatcher.ask(home.owner, listAttempts, place)).status, 404);
    const { rows } = await dispatcher.store.pool.query('select from webhooks.secrets where endpoint_id = $1', [
      endpoint.id,
    ]);
    assert.equal(rows.length, 0);
  });
});

describe('a deployment without WEBHOOK_SECRET_KEY', () => {
  it('answers a creation with 503 and says what is missing [webhooks.create.not-configured]', async () => {
    await using dispatcher = await TestDispatcher.open('webhooks-off', { WEBHOOK_SECRET_KEY: '' });
    const { id: workspaceId, owner } = await dispatcher.workspace('owner');
    const body = { url: 'https://hooks.example.com/', workspaceId };
    const made = await dispatcher.ask(owner, createEndpoint, { body });
    assert.deepEqual([made.status, made.code], [503, 'webhooks_not_configured']);
    assert.match(made.message ?? '', /WEBHOOK_SECRET_KEY/);
    const listed = await dispatcher.ask(owner, listEndpoints, { query: { workspaceId } });
    assert.equal(listed.status, 200);
  });
});

import { webhookApi, type Principal } from '@wts/contracts';
import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { TestDispatcher } from './test-dispatcher.ts';
import { MANAGEMENT } from '../src/limits.ts';

const { createEndpoint, deleteEndpoint, getEndpoint, listDeliveries, listEndpoints, rotateSecret, testEndpoint } =
  webhookApi;
const url = 'https://hooks.example.com/x';

describe('management of webhook endpoints under many or repeated requests', () => {
  let dispatcher: TestDispatcher;
  let home: { id: string; owner: Principal; admin: Principal };

  before(async () => (dispatcher = await TestDispatcher.open('webhook-requests')));
  beforeEach(async () => (home = await dispatcher.workspace('owner', 'admin')));
  after(() => dispatcher[Symbol.asyncDispose]());

  it('answers one person while another one has more requests than there are connections', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const params = { id: endpoint.id };
    await using stack = new AsyncDisposableStack();
    const blocker = await dispatcher.store.admin.connect();
    // A failure of the test must not leave the lock.
    stack.defer(() => blocker.release(true));
    // Not its partitions, whose maintenance could hold one of them and wait for the table.
    await blocker.query('begin; lock table only webhooks.events in access exclusive mode');
    let answered = 0;
    const lists = Array.from({ length: 20 }, async () => {
      const { status } = await dispatcher.ask(home.owner, listDeliveries, { params });
      answered += 1;
      return status;
    });
    // The lane of the endpoint and the maintenance of the tables may wait, too.
    const isWaiting = async (): Promise<boolean> => {
      const { rowCount } = await dispatcher.store.admin.query(
        `select 1 from pg_locks join pg_stat_activity using (pid)
          where relation = 'webhooks.events'::regclass and not granted and query like '%"lastResponseSnippet"%'`,
      );
      return rowCount === 2;
    };
    await eventually(isWaiting);
    for (let turn = 0; turn < 5; turn += 1)
      assert.equal((await dispatcher.ask(home.admin, getEndpoint, { params })).status, 200);
    assert.equal(answered, 0);
    await blocker.query('rollback');
    assert.deepEqual(new Set(await Promise.all(lists)), new Set([200]));
  });

  it('queues a few test events, however many are asked for at once', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const asked = Array.from({ length: MANAGEMENT.testsMax + 10 }, () =>
      dispatcher.ask(home.owner, testEndpoint, { params: { id: endpoint.id } }),
    );
    const answers = (await Promise.all(asked)).map(({ status }) => status);
    assert.equal(answers.filter((status) => status === 202).length, MANAGEMENT.testsMax);
    assert.equal(answers.filter((status) => status === 429).length, 10);
  });

  it('rotates no secret for a person who is an admin no more', async () => {
    const { endpoint } = await dispatcher.endpoint(home.owner, home.id);
    const rotate = () => dispatcher.ask(home.admin, rotateSecret, { params: { id: endpoint.id } });
    assert.equal((await rotate()).status, 200);
    await dispatcher.store.admin.query(`update sync.workspace_members set role = 'member' where user_id = $1`, [
      home.admin.userId,
    ]);
    assert.equal((await rotate()).status, 403);
    const { rows } = await dispatcher.store.admin.query('select 1 from webhooks.secrets where endpoint_id = $1', [
      endpoint.id,
    ]);
    assert.equal(rows.length, 2);
  });

  it('creates an endpoint once for an Idempotency-Key, and shows it again with the same secret [idempotency.replay]', async () => {
    const { id: workspaceId, owner } = home;
    const create = { body: { url, workspaceId }, headers: { 'idempotency-key': randomUUID() } };
    const [one, other] = [
      await dispatcher.ask(owner, createEndpoint, create),
      await dispatcher.ask(owner, createEndpoint, create),
    ];
    assert.deepEqual(one.body, other.body);
    const listed = await dispatcher.ask(owner, listEndpoints, { query: { workspaceId } });
    assert.equal(listed.body.endpoints.length, 1);
  });

  it('creates another endpoint when the key is of an earlier day and its endpoint is deleted', async () => {
    const { id: workspaceId, owner } = home;
    const create = { body: { url, workspaceId }, headers: { 'idempotency-key': randomUUID() } };
    const first = await dispatcher.ask(owner, createEndpoint, create);
    const params = { id: first.body.endpoint.id };
    assert.equal((await dispatcher.ask(owner, deleteEndpoint, { params })).status, 200);
    await dispatcher.store.admin.query('update webhooks.idempotency_keys set expires_at = now()');
    const second = await dispatcher.ask(owner, createEndpoint, create);
    assert.equal(second.status, 201, second.text);
    assert.notEqual(second.body.endpoint.id, params.id);
  });

  it('keeps one secret current after a rotation whose key is of an earlier day', async () => {
    const { id: workspaceId, owner } = home;
    const { endpoint } = await dispatcher.endpoint(owner, workspaceId);
    const rotate = { params: { id: endpoint.id }, headers: { 'idempotency-key': randomUUID() } };
    await dispatcher.ask(owner, rotateSecret, rotate);
    await dispatcher.ask(owner, rotateSecret, { params: rotate.params });
    await dispatcher.store.admin.query('update webhooks.idempotency_keys set expires_at = now()');
    assert.equal((await dispatcher.ask(owner, rotateSecret, rotate)).status, 200);
    const { rows } = await dispatcher.store.pool.query<{ expires_at: Date | null }>(
      'select expires_at from webhooks.secrets where endpoint_id = $1 order by created_at desc',
      [endpoint.id],
    );
    assert.deepEqual(
      rows.map(({ expires_at: expiresAt }) => expiresAt === null),
      [true, false, false],
    );
  });
});

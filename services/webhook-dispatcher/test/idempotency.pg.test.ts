import { webhookApi } from '@wts/contracts';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { TestDispatcher } from './test-dispatcher.ts';

const { createEndpoint, deleteEndpoint, listEndpoints, rotateSecret } = webhookApi;
const url = 'https://hooks.example.com/x';

describe('a webhook endpoint that is created with an Idempotency-Key', () => {
  let dispatcher: TestDispatcher;
  before(async () => (dispatcher = await TestDispatcher.open('idempotency')));
  after(() => dispatcher[Symbol.asyncDispose]());

  it('is created once, and shown again with the same secret [idempotency.replay]', async () => {
    const { id: workspaceId, owner } = await dispatcher.workspace('owner');
    const create = { body: { url, workspaceId }, headers: { 'idempotency-key': randomUUID() } };
    const [one, other] = [
      await dispatcher.ask(owner, createEndpoint, create),
      await dispatcher.ask(owner, createEndpoint, create),
    ];
    assert.deepEqual(one.body, other.body);
    const listed = await dispatcher.ask(owner, listEndpoints, { query: { workspaceId } });
    assert.equal(listed.body.endpoints.length, 1);
  });

  it('is another one when the key is of an earlier day and its endpoint is deleted', async () => {
    const { id: workspaceId, owner } = await dispatcher.workspace('owner');
    const create = { body: { url, workspaceId }, headers: { 'idempotency-key': randomUUID() } };
    const first = await dispatcher.ask(owner, createEndpoint, create);
    const params = { id: first.body.endpoint.id };
    assert.equal((await dispatcher.ask(owner, deleteEndpoint, { params })).status, 200);
    await dispatcher.store.admin.query('update webhooks.idempotency_keys set expires_at = now()');
    const second = await dispatcher.ask(owner, createEndpoint, create);
    assert.equal(second.status, 201, second.text);
    assert.notEqual(second.body.endpoint.id, params.id);
  });

  it('has a current secret after a rotation whose key is of an earlier day', async () => {
    const { id: workspaceId, owner } = await dispatcher.workspace('owner');
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

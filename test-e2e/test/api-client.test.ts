import { createApiClient, GraphqlError, SyncError, type ApiClient } from '@wts/client/api';
import { NameError, Names, taskOf } from '@wts/client/names';
import { eventually, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { sharedSystem } from './shared-system.ts';

const LISTED_BY = { workspace: 'w', project: 'p', team: 't', label: 'l', person: 'm', task: 'f' };

describe('the API of the client package, at a running system', function apiClient() {
  this.timeout(60_000);
  let testSystem: TestSystem;
  let api: ApiClient;
  let workspaceId: string;
  const urlKey = `api-${randomUUID().slice(0, 8)}`;

  before(async () => {
    testSystem = await sharedSystem();
    const { baseUrl, apiKey: token } = testSystem;
    api = createApiClient({ baseUrl, token });
    const { workspace } = await api.createWorkspace({ name: 'Of the client', urlKey });
    workspaceId = workspace.id;
  });

  it('reads what it created, and creates nothing twice with the same key', async () => {
    assert.equal((await api.getWorkspaceBySlug({ slug: urlKey })).workspace.id, workspaceId);
    assert.ok((await api.listWorkspaces()).workspaces.some(({ id }) => id === workspaceId));
    const idempotencyKey = randomUUID();
    const made = [1, 2].map(() => api.createInvitation({ workspaceId, role: 'guest' }, { idempotencyKey }));
    const [one, other] = await Promise.all(made);
    assert.equal(one?.invitation.id, other?.invitation.id);
    const { invitations } = await api.listInvitations({ workspaceId });
    assert.deepEqual(
      invitations.map(({ id, role }) => [id, role]),
      [[one?.invitation.id, 'guest']],
    );
    assert.equal((await api.listMembers({ workspaceId })).members[0]?.role, 'owner');
  });

  it('manages webhooks by their whole life', async () => {
    const url = 'https://192.0.2.1:8443/';
    const { endpoint, secret } = await api
      .createWebhookEndpoint({ url: 'https://example.com/hook', workspaceId, eventTypes: ['task.created'] })
      .catch((error: unknown) => assert.fail(String(error)));
    assert.match(secret, /^whsec_/);
    await assert.rejects(api.updateWebhookEndpoint({ id: endpoint.id, url }), {
      code: 'validation_failed',
      status: 400,
    });
    const changed = await api.updateWebhookEndpoint({ id: endpoint.id, enabled: false, description: 'Off' });
    assert.deepEqual([changed.endpoint.enabled, changed.endpoint.description], [false, 'Off']);
    const { endpoints } = await api.listWebhookEndpoints({ workspaceId });
    assert.deepEqual(endpoints, [changed.endpoint]);
    assert.deepEqual((await api.listWebhookDeliveries({ id: endpoint.id, limit: 1 })).deliveries, []);
    assert.notEqual((await api.rotateWebhookSecret({ id: endpoint.id })).secret, secret);
    await api.deleteWebhookEndpoint({ id: endpoint.id });
    await assert.rejects(api.getWebhookEndpoint({ id: endpoint.id }), (error) => {
      assert.ok(error instanceof SyncError && error.code === 'not_found' && !error.isTemporary);
      return error.requestId !== undefined;
    });
  });

  it('makes keys, which stop working when they are revoked', async () => {
    const { key } = await api.createApiKey({ label: 'short' });
    const other = createApiClient({ baseUrl: testSystem.baseUrl, token: key.token, retry: { pauseMsMax: 10 } });
    await other.listWorkspaces();
    await api.revokeApiKey({ keyId: key.id, includeMade: 'true' });
    await eventually(async () => assert.rejects(other.listApiKeys(), { status: 401 }).then(() => true));
  });

  it('runs GraphQL, and finds tasks by the words of people', async () => {
    const { taskCreate } = await api.graphql<{ taskCreate: { task: { id: string; number: number } } }>(
      'mutation($input: TaskCreateInput!) { taskCreate(input: $input) { task { id number } } }',
      { input: { workspaceId, title: 'Found by its key' } },
    );
    const { task } = taskCreate;
    const names = new Names({ run: api.graphql, userId: testSystem.userId, listedBy: LISTED_BY });
    for (const word of [`${urlKey.toUpperCase()}-${task.number}`, task.id])
      assert.equal((await taskOf(word, undefined, names)).id, task.id);
    assert.equal((await taskOf(`#${task.number}`, 'Of the client', names)).id, task.id);
    await assert.rejects(taskOf(`${urlKey}-999`, undefined, names), NameError);
    await assert.rejects(names.label('urgent', await names.workspace(urlKey)), /No label is named "urgent"/);
    await assert.rejects(api.graphql('{ no }'), (error) => {
      assert.ok(error instanceof GraphqlError && error.graphqlCode === 'VALIDATION_FAILED');
      return error.requestId !== undefined;
    });
  });
});

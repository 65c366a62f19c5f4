import type { WebhookEndpoint, WebhookEvent } from '@wts/contracts';
import { receiver, type Received, type Receiver, type TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { openShared } from './shared-system.ts';

interface Created {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string;
}

describe('webhooks of a running system', () => {
  let testSystem: TestSystem;
  let identity: { cert: string; key: string };

  before(async () => {
    const shared = await openShared();
    ({ testSystem } = shared);
    identity = await shared.authority.issue();
  });

  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const reply = await testSystem.request(testSystem.apiKey, method, path, { body });
    assert.ok(reply.status < 300, `${method} ${path} is answered ${reply.status}: ${reply.text}`);
    return JSON.parse(reply.text) as T;
  }

  async function endpointAt(consumer: Receiver, more: object = {}): Promise<Created> {
    return call<Created>('POST', '/api/webhooks', {
      url: `${consumer.url}/`,
      workspaceId: testSystem.workspaceId,
      ...more,
    });
  }

  async function change(action: string, modelName: string, modelId: string, payload: object = {}): Promise<void> {
    const { success, text } = await testSystem.mutate(testSystem.apiKey, { modelName, modelId, action, payload });
    assert.ok(success, text);
  }

  async function createTask(more: object = {}): Promise<string> {
    const id = randomUUID();
    await change('INSERT', 'Task', id, { workspaceId: testSystem.workspaceId, title: 'A task', ...more });
    return id;
  }

  const eventOf = ({ body }: Received): WebhookEvent => JSON.parse(body) as WebhookEvent;
  const about = (consumer: Receiver, id: string): WebhookEvent[] =>
    consumer.received.map(eventOf).filter(({ data }) => data.object['id'] === id);

  it('delivers each change of a task with its event type, in ascending order, as two independent libraries verify it [webhooks.signature.standard, webhooks.headers.signature, webhooks.order.commit, events.task.created]', async () => {
    await using consumer = await receiver({ identity });
    const { endpoint, secret } = await endpointAt(consumer);
    const id = await createTask();
    await change('UPDATE', 'Task', id, { title: 'Renamed' });
    await change('UPDATE', 'Task', id, { completedAt: '2026-11-21T09:00:00.000Z' });
    await change('UPDATE', 'Task', id, { completedAt: '2026-11-21T10:00:00.000Z' });
    await change('ARCHIVE', 'Task', id);
    await change('UNARCHIVE', 'Task', id);
    await change('DELETE', 'Task', id);
    await consumer.until(() => about(consumer, id).length >= 7);
    const events = about(consumer, id);
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.changes]),
      [
        ['task.created', []],
        ['task.updated', ['title']],
        ['task.completed', ['completedAt']],
        ['task.updated', ['completedAt']],
        ['task.archived', ['archivedAt']],
        ['task.updated', ['archivedAt']],
        ['task.deleted', []],
      ],
    );
    const positions = events.map(({ syncActionId }) => BigInt(syncActionId ?? 0));
    assert.ok(positions.every((position, index) => index === 0 || position > (positions[index - 1] ?? 0n)));
    for (const delivery of consumer.received) verifyWith(delivery, secret);
    await call('DELETE', `/api/webhooks/${endpoint.id}`);
  });

  it('delivers the completion of a task that repeats, then the creation of the next one [events.task.created]', async () => {
    await using consumer = await receiver({ identity });
    const { endpoint } = await endpointAt(consumer, { eventTypes: ['task.completed', 'task.created'] });
    const id = await createTask({ startDate: '2030-01-07', repeatRule: 'FREQ=WEEKLY' });
    await change('UPDATE', 'Task', id, { completedAt: '2026-11-21T09:00:00.000Z' });
    await consumer.until(({ length }) => length >= 3);
    const events = consumer.received.map(eventOf);
    assert.deepEqual(
      events.map(({ type, data }) => [type, data.object['startDate'], data.object['repeatTemplateId']]),
      [
        ['task.created', '2030-01-07', id],
        ['task.completed', '2030-01-07', id],
        ['task.created', '2030-01-14', id],
      ],
    );
    const [, completed, next] = events.map(({ syncActionId }) => BigInt(syncActionId ?? 0));
    assert.ok(completed !== undefined && next === completed + 1n);
    await call('DELETE', `/api/webhooks/${endpoint.id}`);
  });

  it('loses nothing and keeps the order when the dispatcher restarts while changes are made [never.actions-lost, events.source.never-skipped]', async () => {
    await using consumer = await receiver({ identity });
    const { endpoint } = await endpointAt(consumer, { eventTypes: ['task.created'] });
    const dispatcher = testSystem.service('webhook-dispatcher');
    const created: string[] = [];
    for (let count = 0; count < 40; count += 1) {
      created.push(await createTask());
      if (count % 20 === 10) await dispatcher.restart();
    }
    await consumer.until((all) => new Set(all.map(({ headers }) => headers['webhook-id'])).size >= 40);
    const firsts = new Map<string, WebhookEvent>();
    for (const one of consumer.received) if (!firsts.has(eventOf(one).id)) firsts.set(eventOf(one).id, eventOf(one));
    assert.deepEqual(
      [...firsts.values()].map(({ data }) => data.object['id']),
      created,
    );
    await call('DELETE', `/api/webhooks/${endpoint.id}`);
  });
});

function verifyWith({ headers, body }: Received, secret: string): void {
  const given = headers as Record<string, string>;
  new StandardWebhook(secret).verify(body, given);
  const svix = Object.fromEntries(
    ['id', 'timestamp', 'signature'].map((name) => [`svix-${name}`, given[`webhook-${name}`] ?? '']),
  );
  new SvixWebhook(secret).verify(body, svix);
}

import { webhookApi, type Principal } from '@wts/contracts';
import { eventually, receiver, type Receiver } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { FAST_SCHEDULE } from './lane-system.ts';
import { sharedAuthority } from './sender.ts';
import { TestDispatcher } from './test-dispatcher.ts';

const verified = (secret: string, { body, headers }: Receiver['received'][number]): Record<string, unknown> =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as Record<string, unknown>;

describe('a change of the log', () => {
  let dispatcher: TestDispatcher;
  let who: Principal;
  let workspaceId: string;
  before(async () => {
    const { caFile } = await sharedAuthority();
    dispatcher = await TestDispatcher.open('dispatch', {
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      WEBHOOK_EXTRA_CA_FILE: caFile,
      WEBHOOK_RETRY_SCHEDULE: FAST_SCHEDULE,
    });
  });
  after(() => dispatcher[Symbol.asyncDispose]());
  beforeEach(async () => {
    const workspace = await dispatcher.workspace('owner');
    [who, workspaceId] = [workspace.owner, workspace.id];
  });

  const consumerOf = async (): Promise<Receiver> => receiver({ identity: await (await sharedAuthority()).issue() });
  const created = async (url: string): Promise<{ id: string; secret: string }> => {
    const {
      body,
      status,
      message = '',
    } = await dispatcher.ask(who, webhookApi.createEndpoint, { body: { url: `${url}/hook`, workspaceId } });
    assert.equal(status, 201, message);
    return { id: body.endpoint.id, secret: body.secret };
  };
  const append = (count: number): Promise<number[]> =>
    dispatcher.store.append(Array.from({ length: count }, () => ({ workspaceId })));
  const change = async (id: string, body: object): Promise<void> => {
    const { status } = await dispatcher.ask(who, webhookApi.updateEndpoint, { params: { id }, body });
    assert.equal(status, 200);
  };

  it('reaches its endpoint signed, once and in order, whatever fails on the way [webhooks.order.commit]', async () => {
    await using consumer = await consumerOf();
    const { secret } = await created(consumer.url);
    const seen = new Set<unknown>();
    consumer.answer(({ headers: { 'webhook-id': id } }) => {
      const isFirst = !seen.has(id);
      seen.add(id);
      return { status: isFirst && seen.size % 3 === 0 ? 500 : 200 };
    });
    const places = [...(await append(30)), ...(await append(30)), ...(await append(1))];
    const firsts = await eventually(() => {
      const events = consumer.received.map((request) => verified(secret, request));
      const positions = [...new Set(events.map(({ syncActionId }) => Number(syncActionId)))];
      return positions.length === places.length ? positions : null;
    });
    assert.deepEqual(firsts, places);
  });

  it('goes to the new address and under both secrets after a change and a rotation [webhooks.signature.rotation]', async () => {
    await using consumer = await consumerOf();
    await using other = await consumerOf();
    const { id, secret } = await created(consumer.url);
    await append(1);
    await consumer.until((all) => all.length === 1);
    const rotated = await dispatcher.ask(who, webhookApi.rotateSecret, { params: { id } });
    await change(id, { url: `${other.url}/new` });
    await append(1);
    const [request] = await other.until((all) => all.length === 1);
    assert.ok(request !== undefined);
    assert.equal(String(request.headers['webhook-signature']).split(' ').length, 2);
    verified(secret, request);
    verified(rotated.body.secret, request);
    assert.equal(consumer.received.length, 1);
  });

  it('waits while its endpoint is off, and a test event takes the same way [webhooks.test.same-road, webhooks.update.re-enable]', async () => {
    await using consumer = await consumerOf();
    const { id, secret } = await created(consumer.url);
    consumer.answer({ status: 410 });
    const queued = await dispatcher.ask(who, webhookApi.testEndpoint, { params: { id } });
    assert.equal(queued.status, 202);
    const off = await eventually(async () => {
      const { body } = await dispatcher.ask(who, webhookApi.getEndpoint, { params: { id } });
      return body.endpoint.enabled ? null : body.endpoint;
    });
    assert.deepEqual([off.disabledReason, off.consecutiveFailures], ['gone', 1]);
    const [tested] = consumer.received;
    assert.ok(tested !== undefined);
    assert.equal(verified(secret, tested)['type'], 'endpoint.test');

    consumer.answer({ status: 200 });
    await change(id, { enabled: true });
    await append(2);
    await consumer.until((all) => all.length >= 4);
    // The outcome of an attempt is recorded after the consumer received it.
    await eventually(async () => {
      const { body } = await dispatcher.ask(who, webhookApi.getEndpoint, { params: { id } });
      assert.deepEqual([body.endpoint.enabled, body.endpoint.consecutiveFailures], [true, 0]);
      return true;
    });
  });

  it('is sent once more when that is asked for [webhooks.retry.queued]', async () => {
    await using consumer = await consumerOf();
    const { id, secret } = await created(consumer.url);
    await append(1);
    await consumer.until((all) => all.length === 1);
    const find = async () => {
      const { body } = await dispatcher.ask(who, webhookApi.listDeliveries, { params: { id } });
      return body.deliveries[0];
    };
    const delivery = await eventually(async () => {
      const found = await find();
      return found?.status === 'succeeded' ? found : null;
    });
    const params = { id, deliveryId: delivery.id };
    const queued = await dispatcher.ask(who, webhookApi.retryDelivery, { params });
    assert.equal(queued.status, 202);
    const [first, again] = await consumer.until((all) => all.length === 2);
    assert.ok(first !== undefined && again !== undefined);
    assert.deepEqual(verified(secret, first), verified(secret, again));
    await eventually(async () => (await find())?.attemptCount === 2);
    assert.equal(
      (await dispatcher.ask(who, webhookApi.retryDelivery, { params: { id, deliveryId: randomUUID() } })).status,
      404,
    );
  });

  it('goes nowhere once its endpoint is deleted', async () => {
    await using consumer = await consumerOf();
    const { id } = await created(consumer.url);
    await append(1);
    await consumer.until((all) => all.length === 1);
    assert.equal((await dispatcher.ask(who, webhookApi.deleteEndpoint, { params: { id } })).status, 200);
    await using control = await consumerOf();
    await created(control.url);
    await append(1);
    await control.until((all) => all.length === 1);
    assert.equal(consumer.received.length, 1);
  });
});

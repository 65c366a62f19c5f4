import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { generateApiKey } from '@wts/access';
import { RawClient, errorOf, request, exchange } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';
import { SERVICE_LIMITS } from '@wts/service-kit/limits';

/** A request with a well-formed unknown key, which only a look-up can refuse. */
const withUnknownKey = (): string =>
  request('GET /api/workspaces', [`Authorization: Bearer ${generateApiKey('wts_').token}`]);

describe('requests without a valid credential', () => {
  let testGateway: TestGateway;
  before(async () => (testGateway = await startTestGateway()));
  after(() => testGateway.close());
  beforeEach(() => {
    testGateway.workspace.reset();
    testGateway.authService.lookUps = 0;
    testGateway.authService.lookUpGate = Promise.resolve();
  });

  it('do not block others when 200 000 of them arrive in one write [limits.pipelining]', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    testGateway.authService.lookUpGate = promise;
    const many = Array.from({ length: 2000 }, withUnknownKey).join('').repeat(100);
    const client = await RawClient.open(testGateway.api);
    client.send(many);
    await eventually(() => testGateway.authService.lookUps > 0);
    for (let count = 0; count < 50; count += 1)
      assert.equal((await exchange(testGateway.api, request('GET /health'))).status, 200);
    assert.equal(testGateway.authService.lookUps, 1);
    resolve();
    for (let count = 0; count < 50; count += 1) {
      assert.equal((await exchange(testGateway.api, request('GET /health'))).status, 200);
      errorOf(await client.reply(), 401, 'api_key_invalid');
    }
    client.destroy();
    assert.ok(testGateway.authService.lookUps < 2000);
    assert.equal((await exchange(testGateway.api, request('GET /health'))).status, 200);
  });

  it('wait only for credential look-ups of their own network [limits.look-ups.network]', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { token } = testGateway.newKey(['read']);
    const mine = request('GET /sync/deltas', [`Authorization: Bearer ${token}`]);
    testGateway.authService.lookUpGate = promise;
    const clients = await Promise.all(Array.from({ length: 100 }, () => RawClient.open(testGateway.api)));
    for (const client of clients) client.send(withUnknownKey());
    await eventually(() => testGateway.authService.lookUps > 0);
    const neighbor = await RawClient.open(testGateway.api, '127.0.0.2');
    neighbor.send(mine);
    await eventually(() => testGateway.authService.lookUps > SERVICE_LIMITS.lookUpsOfSenderMax);
    assert.equal(testGateway.authService.lookUps, SERVICE_LIMITS.lookUpsOfSenderMax + 1);
    resolve();
    assert.equal((await neighbor.reply()).status, 200);
    for (const client of clients) errorOf(await client.reply(), 401, 'api_key_invalid');
    for (const client of [...clients, neighbor]) client.destroy();
  });
});

describe('the connections of one network', () => {
  it('without a credential are limited to a share of all, and other networks are served [limits.connections.network]', async () => {
    const testGateway = await startTestGateway({ CONNECTIONS_MAX: '64', CONNECTIONS_OF_NETWORK_PERCENT: '25' });
    const held: RawClient[] = [];
    try {
      for (let count = 0; count < 16; count += 1) held.push(await RawClient.open(testGateway.api));
      const refused = errorOf(await exchange(testGateway.api, request('GET /sync/deltas')), 503, 'unavailable');
      assert.match(refused.message ?? '', /^Your network uses its whole share of the connections/);
      const neighbor = await RawClient.open(testGateway.api, '127.0.0.2');
      assert.equal((await neighbor.send(request('GET /openapi.json')).reply()).status, 200);
      neighbor.destroy();
    } finally {
      for (const client of held) client.destroy();
      await testGateway.close();
    }
  });

  it('with a credential are not limited per network', async () => {
    const testGateway = await startTestGateway({ CONNECTIONS_MAX: '64', CONNECTIONS_OF_NETWORK_PERCENT: '25' });
    const held: RawClient[] = [];
    testGateway.sync.answer = () => undefined;
    try {
      for (let count = 0; count < 40; count += 1) {
        const client = await RawClient.open(testGateway.api);
        held.push(client.send(request('GET /sync/deltas', [`Authorization: Bearer ${testGateway.fullKey}`])));
        await eventually(() => testGateway.sync.started === held.length);
      }
      assert.equal((await exchange(testGateway.api, request('GET /openapi.json'))).status, 200);
    } finally {
      for (const client of held) client.destroy();
      await testGateway.close();
    }
  });
});

import { eventually, tokenEnvironment } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { RawClient, errorOf, request, exchange } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';
import { SERVICE_LIMITS } from '@wts/service-kit/limits';

describe('readiness', () => {
  let testGateway: TestGateway;
  before(async () => (testGateway = await startTestGateway()));
  after(() => testGateway.close());

  const readyWithin = async (status: number): Promise<void> => {
    const deadline = performance.now() + 30_000;
    for (;;) {
      const reply = await exchange(testGateway.api, request('GET /ready'));
      if (reply.status === status) return;
      assert.ok(performance.now() < deadline, `still ${reply.status}`);
    }
  };

  it('is 200 on both origins while every service is ready, also without NATS [meta.ready.ping]', async () => {
    assert.equal((await exchange(testGateway.api, request('GET /ready'))).body, '{"ok":true,"status":"ready"}');
    assert.equal((await exchange(testGateway.auth, request('GET /ready'))).status, 200);
  });

  it('is 503 with Retry-After while one service is not ready, and recovers by itself [meta.ready.down, meta.ready.recovers]', async () => {
    testGateway.sync.isReady = false;
    await readyWithin(503);
    const reply = await exchange(testGateway.api, request('GET /ready'));
    errorOf(reply, 503, 'unavailable');
    assert.ok(reply.headers['retry-after']);
    assert.equal((await exchange(testGateway.api, request('GET /health'))).status, 200);
    testGateway.sync.isReady = true;
    await readyWithin(200);
  });

  it('is 503 long before a call would end, when a service accepts connections and does not answer', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined));
    const sockets = new Set<Socket>();
    silent.on('connection', (socket) => sockets.add(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const hanging = await startTestGateway({ SYNC_SERVICE_URL: `http://127.0.0.1:${port}` });
    const before = performance.now();
    const replies = await Promise.all([1, 2, 3].map(() => exchange(hanging.api, request('GET /ready'))));
    assert.ok(performance.now() - before < SERVICE_LIMITS.internalCallTimeoutMs / 2);
    for (const reply of replies) errorOf(reply, 503, 'unavailable');
    assert.equal(sockets.size, 1, 'many probes cause one check');
    await hanging.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

describe('the shutdown of a gateway', () => {
  it('finishes requests in progress, closes their connections, and accepts no others', async () => {
    const testGateway = await startTestGateway();
    const held: ServerResponse[] = [];
    testGateway.sync.answer = (_req, res) => void held.push(res);
    const client = await RawClient.open(testGateway.api);
    const idle = await RawClient.open(testGateway.auth);
    client.send(request('GET /sync/deltas', [`Authorization: Bearer ${testGateway.fullKey}`]));
    await eventually(() => held.length === 1);
    const closing = testGateway.service.close();
    await idle.ended();
    await assert.rejects(RawClient.open(testGateway.api));
    await assert.rejects(RawClient.open(testGateway.auth));
    held[0]?.end('finished');
    const reply = await client.reply();
    assert.equal(reply.body, 'finished');
    await client.ended();
    client.destroy();
    idle.destroy();
    await closing;
    await testGateway.close();
  });

  it('answers 503 to /ready first, while the port is still open', async () => {
    const testGateway = await startTestGateway({ SHUTDOWN_DELAY_MS: '500' });
    const closing = testGateway.service.close();
    const reply = await exchange(testGateway.api, request('GET /ready'));
    errorOf(reply, 503, 'unavailable');
    assert.equal((await exchange(testGateway.api, request('GET /health'))).status, 200);
    await closing;
    await testGateway.close();
  });

  it('breaks off a request that takes longer than the grace time', async () => {
    const testGateway = await startTestGateway({ SHUTDOWN_GRACE_MS: '200' });
    testGateway.sync.answer = () => undefined;
    const client = await RawClient.open(testGateway.api);
    client.send(request('GET /sync/deltas', [`Authorization: Bearer ${testGateway.fullKey}`]));
    await eventually(() => testGateway.sync.seen.length === 1);
    await testGateway.close();
    await client.ended();
    client.destroy();
  });
});

describe('the log of a gateway', () => {
  it('has one line per request with its caller, route and address, and no secret [never.secret-in-clear]', async () => {
    const testGateway = await startTestGateway({ TRUSTED_PROXIES: '127.0.0.0/8' });
    const { token, principal } = testGateway.newKey(['read']);
    const lines = [`Authorization: Bearer ${token}`, 'X-Forwarded-For: 6.6.6.6, 203.0.113.9', 'X-Request-Id: find-me'];
    await exchange(testGateway.api, request('GET /sync/deltas?after=0&secret=hidden', lines));
    const code = randomBytes(24).toString('base64url');
    await exchange(testGateway.api, request(`GET /nowhere/${code}?secret=hidden`, lines));
    await testGateway.close();
    const logged = testGateway
      .logs()
      .split('\n')
      .filter((line) => line.includes('find-me'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      logged.map(({ route, status, userId, client, path, code }) => ({ route, status, userId, client, path, code })),
      [
        {
          route: 'syncDeltas',
          status: 200,
          userId: principal.userId,
          client: '203.0.113.9',
          path: undefined,
          code: undefined,
        },
        {
          route: 'unmatched',
          status: 404,
          userId: undefined,
          client: '203.0.113.9',
          path: '/nowhere/[redacted]',
          code: 'not_found',
        },
      ],
    );
    for (const secret of [token, code, 'hidden', 'Bearer']) assert.ok(!testGateway.logs().includes(secret), secret);
  });
});

describe('the configuration of a gateway', () => {
  it('is checked before anything is opened, with every error in one message', async () => {
    const wrong = {
      WORKSPACE_SERVICE_URL: 'not a url',
      SYNC_SERVICE_URL: '',
      INTERNAL_TOKEN_KEY: 'short',
      INTERNAL_TOKEN_PUBLIC_KEYS: '{}{',
      JWT_ISSUERS: '{',
      PORT: '70000',
    };
    await assert.rejects(startTestGateway(wrong), (error: Error) =>
      Object.keys(wrong).every((variable) => error.message.includes(variable)),
    );
  });

  it('is refused with the key of another service, and without repeating it [authentication.internal.rotation]', async () => {
    const { INTERNAL_TOKEN_KEY = '' } = tokenEnvironment('graph');
    await assert.rejects(
      startTestGateway({ INTERNAL_TOKEN_KEY }),
      ({ message }: Error) =>
        message.includes('INTERNAL_TOKEN_PUBLIC_KEYS has no key of gateway') && !message.includes(INTERNAL_TOKEN_KEY),
    );
  });

  it('is refused with a message that names a port in use', async () => {
    const taken = createServer();
    taken.listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    for (const variable of ['PORT', 'AUTH_PORT'])
      await assert.rejects(startTestGateway({ [variable]: String(port) }), new RegExp(`${port}.* is taken`));
    taken.close();
  });
});

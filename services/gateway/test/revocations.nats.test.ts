import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { LIMITS, STREAM, type Revocation } from '@wts/contracts';
import { eventually, testNats } from '@wts/testkit';
import { connect, type NatsConnection } from 'nats';
import { WebSocket, WebSocketServer } from 'ws';
import { errorOf, request, exchange } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

type NatsServer = Awaited<ReturnType<typeof testNats>>;

describe('a revoked credential', () => {
  let nats: NatsServer;
  let publisher: NatsConnection;
  let testGateway: TestGateway;
  before(async () => {
    nats = await testNats('gateway-revocations');
    publisher = await connect({ servers: nats.url });
    testGateway = await startTestGateway({ NATS_URL: nats.url });
    const server = new WebSocketServer({ noServer: true });
    testGateway.sync.onUpgrade = (req, socket: Duplex, head) =>
      server.handleUpgrade(req, socket, head, () => undefined);
    await eventually(() => testGateway.logs().includes('connected to NATS'));
  });
  after(async () => {
    await testGateway.close();
    await publisher.close();
    await nats[Symbol.asyncDispose]();
  });

  const publish = (revocation: Revocation | string): void => {
    publisher.publish(STREAM.revoked, typeof revocation === 'string' ? revocation : JSON.stringify(revocation));
  };
  const call = (token: string): ReturnType<typeof exchange> =>
    exchange(testGateway.api, request('GET /api/workspaces', [`Authorization: Bearer ${token}`]));

  it('is refused when its revocation is published, before the cache expires', async () => {
    const other = testGateway.newKey(['read']);
    assert.equal((await call(other.token)).status, 200);
    // Again with a new key, because the gateway may still be connecting.
    await eventually(async () => {
      const { token, principal } = testGateway.newKey(['read']);
      assert.equal((await call(token)).status, 200);
      const startedAt = performance.now();
      testGateway.forgetKey(token);
      assert.equal((await call(token)).status, 200, 'the credential is cached');
      while (performance.now() - startedAt < LIMITS.credentialCacheMs / 2) {
        publish({ kind: 'credential', credentialId: principal.credential.id });
        const reply = await call(token);
        if (reply.status !== 401) continue;
        errorOf(reply, 401, 'api_key_invalid');
        return true;
      }
      return false;
    });
    assert.equal((await call(other.token)).status, 200);
  });

  it('of OAuth is refused with all tokens of its grant when the revocation is published [authentication.oauth.revoked]', async () => {
    // Again with a new token, because a revocation of the test before may arrive during a look-up, whose result is then not cached.
    const { token, userId, grantId } = await eventually(async () => {
      const made = testGateway.accessToken(['read']);
      assert.equal((await call(made.token)).status, 200);
      testGateway.authService.grants.delete(made.grantId);
      assert.equal((await call(made.token)).status, 200, 'the credential is cached');
      return made;
    });
    const startedAt = performance.now();
    for (;;) {
      publish({ kind: 'credential', credentialId: grantId, userId });
      const reply = await call(token);
      if (reply.status === 401) break;
      assert.ok(performance.now() - startedAt < LIMITS.credentialCacheMs / 2, 'the credential still works');
    }
  });

  it('keeps its open sockets in the gateway, because sync closes them', async () => {
    const { token, principal } = testGateway.newKey(['read']);
    const socket = new WebSocket(`ws://127.0.0.1:${testGateway.api}/sync/ws?token=${token}`);
    await once(socket, 'open');
    testGateway.forgetKey(token);
    publish('not json');
    publish('null');
    publish('{"kind":"something-newer"}');
    publish({ kind: 'membership', userId: principal.userId, workspaceId: principal.userId });
    publish({ kind: 'credential', credentialId: principal.credential.id });
    await eventually(async () => (await call(token)).status === 401);
    socket.ping();
    await once(socket, 'pong');
    assert.equal(socket.readyState, WebSocket.OPEN);
    socket.terminate();
  });

  it('is refused again after an outage of NATS, during which requests work', async () => {
    const { token, principal } = testGateway.newKey(['read']);
    assert.equal((await call(token)).status, 200);
    await nats.stop();
    await eventually(() => testGateway.logs().includes('the connection to NATS ended'));
    assert.equal((await call(token)).status, 200);
    assert.equal((await exchange(testGateway.api, request('GET /ready'))).status, 200);
    await nats.start();
    await eventually(() => testGateway.logs().split('connected to NATS').length >= 3);
    testGateway.forgetKey(token);
    await publisher.close();
    publisher = await connect({ servers: nats.url });
    publish({ kind: 'credential', credentialId: principal.credential.id });
    const deadline = performance.now() + 2_000;
    while ((await call(token)).status !== 401)
      assert.ok(performance.now() < deadline, 'the revocation was not received');
  });
});

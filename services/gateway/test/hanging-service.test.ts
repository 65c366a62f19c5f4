import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Contract } from '@wts/contracts';
import { Addresses } from '@wts/service-kit/call';
import { createLogger } from '@wts/service-kit/observe';
import { addressReader } from '../src/client-address.ts';
import { RequestContext } from '../src/edge/request-context.ts';
import { openUpstreamSocket } from '../src/edge/handshake.ts';
import { compileRoutes } from '../src/edge/route-table.ts';
import { checkUpstream } from '../src/ready.ts';
import { openUpstream, type Upstream } from '../src/upstream.ts';
import { openBareEdge } from './bare-edge.ts';
import { RawClient, errorOf, request, exchange } from './raw.ts';
import { FakeService } from './fake-service.ts';

const contract: Contract = {
  id: 'open',
  method: 'GET',
  path: '/open',
  summary: '',
  tag: 'Sync',
  scope: 'none',
  reply: { status: 200, schema: {} },
  errors: [],
};

describe('a process of a service that accepts connections and does not answer', () => {
  let upstream: Upstream;
  let hanging: FakeService;
  let working: FakeService;
  beforeEach(async () => {
    [hanging, working] = [await FakeService.start('sync'), await FakeService.start('sync')];
    hanging.server.removeAllListeners('request');
    hanging.server.on('request', () => void (hanging.started += 1));
    hanging.onUpgrade = () => void (hanging.started += 1);
    upstream = openUpstream('sync', [hanging.url, working.url], createLogger({ name: 'test', level: 'silent' }), {
      headersTimeoutMs: 3_000,
      // Longer than a busy machine keeps the process that works, which is this one, from its turn.
      watch: { quietMs: 200, probeMs: 800, goneMs: 1_000, everyMs: 20 },
    });
  });
  afterEach(async () => {
    await upstream.close();
    await Promise.all([hanging.close(), working.close()]);
  });

  it('delays a GET, which another process answers; a change is not sent twice [never.one-frozen]', async () => {
    const routes = compileRoutes([
      { contract, to: 'sync' },
      { contract: { ...contract, id: 'change', method: 'POST' }, to: 'sync' },
    ]);
    await using edge = await openBareEdge(routes, upstream);
    const first = await Promise.all(Array.from({ length: 4 }, () => exchange(edge.port, request('GET /open'))));
    assert.deepEqual(
      first.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.ok(hanging.started > 0);
    for (let count = 0; count < 20; count += 1)
      assert.equal((await exchange(edge.port, request('GET /open'))).status, 200);

    // The hanging address is used when there is no other.
    const before = working.started;
    await working.close();
    errorOf(await exchange(edge.port, request('POST /open')), 503, 'unavailable');
    assert.equal(working.started, before);
  });

  it('does not delay a GET further that waited for a connection to it [never.one-frozen]', async () => {
    const narrow = new Addresses({
      name: 'sync',
      urls: [hanging.url, working.url],
      log: createLogger({ name: 'test', level: 'silent' }),
      underWayMax: 100,
      connections: 1,
      connectTimeoutMs: 1_000,
      headersTimeoutMs: 10_000,
      bodyTimeoutMs: 10_000,
      watch: { quietMs: 100, probeMs: 100, everyMs: 20 },
    });
    // The process answers for a moment; requests that started then are broken off.
    hanging.server.removeAllListeners('request');
    hanging.server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      if (req.url !== '/open' || (hanging.started += 1) === 1) return;
      res.writeHead(200, { 'content-length': '100' }).write('a part');
      setTimeout(() => res.destroy(), 20);
    });
    await using edge = await openBareEdge(compileRoutes([{ contract, to: 'sync' }]), narrow);
    const answers = await Promise.all(Array.from({ length: 4 }, () => exchange(edge.port, request('GET /open'))));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.includes('a part')]),
      Array.from({ length: 4 }, () => [200, false]),
    );
    assert.equal(working.seen.length, 4);
  });

  it('does not make the gateway unready while another one answers [never.one-frozen, meta.ready.ping]', async () => {
    for (let count = 0; count < 4; count += 1) await checkUpstream(upstream, AbortSignal.timeout(1_500));
    assert.ok(hanging.started > 0);
    await working.close();
    await assert.rejects(checkUpstream(upstream, AbortSignal.timeout(100)));
  });

  it('delays a socket, which is opened at another process [never.one-frozen]', async () => {
    working.onUpgrade = (_req, socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    };
    const answers: boolean[] = [];
    let gone = 0;
    const server = createServer().on('upgrade', (req, socket) => {
      socket.on('error', () => undefined);
      const caller = { network: '127.0.0.1', person: 'ann', internalToken: '' };
      const context = new RequestContext(req, { securityHeaders: [], addressOf: addressReader([]) });
      const handshake = { upstream, path: '/ws', context, ...caller };
      openUpstreamSocket(handshake, { isDisconnected: () => false, networkOf: () => '' }).then(
        (reply) => {
          answers.push(reply.agreed);
          if (reply.agreed) reply.hold(() => (gone += 1));
        },
        () => answers.push(false),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
    const clients = await Promise.all(Array.from({ length: 4 }, () => RawClient.open(port)));
    try {
      for (const client of clients) client.send(request('GET /ws', lines));
      await eventually(() => answers.length === 4);
      assert.deepEqual(answers, [true, true, true, true]);
      assert.ok(hanging.started > 0);

      // The gateway closes the sockets of a process that hangs for long.
      working.server.removeAllListeners('request');
      await eventually(() => gone === 4);
    } finally {
      for (const client of clients) client.destroy();
      server.close();
    }
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { eventually, readerFor } from '@wts/testkit';
import { WebSocket, WebSocketServer } from 'ws';
import { EDGE_LIMITS } from '../src/limits.ts';
import { RawClient, errorOf, request, exchange } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const without = (name: string): string[] => HANDSHAKE.filter((line) => !line.startsWith(name));

/** A real WebSocket server instead of the sync service. */
interface Service {
  readonly sockets: WebSocket[];
  readonly requests: IncomingMessage[];
}

function serveSockets(testGateway: TestGateway): Service {
  const service: Service = { sockets: [], requests: [] };
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  testGateway.sync.onUpgrade = (req, socket, head) => {
    service.requests.push(req);
    server.handleUpgrade(req, socket, head, (ws) => {
      service.sockets.push(ws);
      ws.on('message', (data, isBinary) => ws.send(data, { binary: isBinary }));
    });
  };
  return service;
}

async function connect(testGateway: TestGateway, token = testGateway.fullKey, from = '127.0.0.1'): Promise<WebSocket> {
  const headers = { 'x-forwarded-for': from };
  const socket = new WebSocket(`ws://127.0.0.1:${testGateway.api}/sync/ws?token=${token}`, { headers });
  await once(socket, 'open');
  return socket;
}

describe('the socket proxy', () => {
  let testGateway: TestGateway;
  let service: Service;
  before(async () => {
    testGateway = await startTestGateway();
    service = serveSockets(testGateway);
  });
  after(() => testGateway.close());
  beforeEach(() => {
    service.sockets.length = 0;
    service.requests.length = 0;
  });

  it('forwards frames of any size both ways, in order', async () => {
    const socket = await connect(testGateway);
    const sent = [0, 1, 125, 126, 65_535, 65_536, 1_000_000].map((size) => Buffer.alloc(size, size % 251));
    const received: Buffer[] = [];
    socket.on('message', (data: Buffer) => received.push(data));
    for (const frame of sent) socket.send(frame);
    await eventually(() => received.length === sent.length);
    assert.ok(sent.every((frame, at) => frame.equals(received[at] ?? Buffer.alloc(0))));
    socket.close(1000, 'done');
    const [code] = (await once(socket, 'close')) as [number];
    assert.equal(code, 1000);
  });

  it('sends the service the caller, and removes the token from the path [sync.socket.upgrade-token]', async () => {
    const { token, principal } = testGateway.newKey(['read']);
    const client = await RawClient.open(testGateway.api);
    const lines = [...HANDSHAKE, 'X-Request-Id: mine', 'Cookie: a=b', 'X-Wts-Network: 6.6.6.6'];
    client.send(request(`GET /sync/ws?a=%20b&token=${token}&c=d`, lines));
    assert.equal((await client.reply()).status, 101);
    const seen = service.requests[0];
    assert.equal(seen?.url, '/sync/ws?a=%20b&c=d');
    assert.equal(seen.headers['x-request-id'], 'mine');
    assert.equal(seen.headers.cookie, undefined);
    assert.equal(seen.headers['x-wts-network'], '127.0.0.1');
    const read = readerFor('sync');
    const call = read(String(seen.headers['x-wts-principal']));
    assert.deepEqual([call.principal, call.caller], [principal, 'gateway']);
    assert.doesNotMatch(JSON.stringify(seen.rawHeaders), new RegExp(token));
    client.destroy();
  });

  it('answers 101 with only the headers of the handshake and of every answer', async () => {
    const client = await RawClient.open(testGateway.api);
    const { headers } = await client.send(request(`GET /sync/ws?token=${testGateway.fullKey}`, HANDSHAKE)).reply();
    assert.deepEqual(headers['sec-websocket-accept'], ['s3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
    assert.deepEqual(headers['api-version'], ['1']);
    assert.deepEqual(Object.keys(headers).sort(), [
      'api-version',
      'connection',
      'sec-websocket-accept',
      'upgrade',
      'x-content-type-options',
      'x-request-id',
    ]);
    client.destroy();
  });

  it('refuses a missing, empty or bad token with 401 before a socket is opened [sync.socket.refused-upgrade]', async () => {
    for (const [query, error] of [
      ['', 'Authorization header required'],
      ['?token=', 'Authorization header required'],
      ['?token=wts_wrong', 'Invalid API key'],
      [`?token=${'x'.repeat(50)}`, 'Invalid token'],
      [`?token=${testGateway.jwt({ exp: 1 })}`, 'Invalid token'],
    ]) {
      const reply = await exchange(testGateway.api, request(`GET /sync/ws${query}`, HANDSHAKE));
      assert.equal(errorOf(reply, 401).error, error);
      assert.deepEqual(reply.headers.connection, ['close']);
      assert.ok(reply.headers['www-authenticate']);
    }
    const inHeader = [...HANDSHAKE, `Authorization: Bearer ${testGateway.fullKey}`];
    const refused = errorOf(await exchange(testGateway.api, request('GET /sync/ws', inHeader)), 401);
    assert.equal(refused.code, 'authorization_required');
    assert.match(refused.message ?? '', /^Connect with \?token=/);
    assert.equal(service.requests.length, 0);
  });

  it('refuses an invalid handshake: 426 for a missing or wrong version, 400 for the rest', async () => {
    const path = `/sync/ws?token=${testGateway.fullKey}`;
    for (const lines of [
      without('Sec-WebSocket-Version'),
      [...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 8'],
      [],
      without('Connection'),
    ]) {
      const reply = await exchange(testGateway.api, request(`GET ${path}`, lines));
      errorOf(reply, 426, 'upgrade_required');
      assert.deepEqual(reply.headers['sec-websocket-version'], ['13']);
    }
    for (const lines of [
      without('Sec-WebSocket-Key'),
      [...without('Sec-WebSocket-Key'), 'Sec-WebSocket-Key: short'],
      [...HANDSHAKE, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='],
      [...HANDSHAKE, 'Content-Length: 4'],
      [...HANDSHAKE, 'Host: twice'],
      [...HANDSHAKE, 'Api-Version: 2'],
    ]) {
      errorOf(await exchange(testGateway.api, request(`GET ${path}`, lines)), 400);
    }
    errorOf(await exchange(testGateway.api, request(`POST ${path}`, HANDSHAKE)), 405);
    errorOf(await exchange(testGateway.api, request(`GET ${path}&token=again`, HANDSHAKE)), 400, 'malformed_request');
    assert.equal(service.requests.length, 0);
  });

  it('upgrades only one path [sync.socket.only-path]', async () => {
    for (const path of ['/health', '/sync/deltas', '/api/workspaces'])
      errorOf(await exchange(testGateway.api, request(`GET ${path}`, HANDSHAKE)), 400, 'malformed_request');
    errorOf(await exchange(testGateway.api, request('GET /nowhere', HANDSHAKE)), 404, 'not_found');
    errorOf(await exchange(testGateway.auth, request('GET /sync/ws', HANDSHAKE)), 404, 'not_found');
  });

  it('ignores and never forwards other upgrades, such as h2c', async () => {
    const credential = `Authorization: Bearer ${testGateway.fullKey}`;
    for (const lines of [
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'],
      ['Connection: upgrade', 'Upgrade: TLS/1.0'],
    ]) {
      assert.equal((await exchange(testGateway.api, request('GET /sync/deltas', [credential, ...lines]))).status, 200);
      assert.equal(testGateway.sync.last.headers.upgrade, undefined);
      assert.equal(testGateway.sync.last.headers['http2-settings'], undefined);
    }
  });

  it('returns the refusal of the service in the common error shape [errors.shape.everywhere, never.shapeless-error]', async () => {
    const { onUpgrade } = testGateway.sync;
    testGateway.sync.onUpgrade = (req, socket) => {
      const id = String(req.headers['x-request-id']);
      const body = JSON.stringify({
        error: 'Service unavailable',
        ok: false,
        statusCode: 503,
        code: 'unavailable',
        requestId: id,
      });
      socket.end(
        `HTTP/1.1 503 x\r\nRetry-After: 7\r\nX-Powered-By: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    };
    const reply = await exchange(testGateway.api, request(`GET /sync/ws?token=${testGateway.fullKey}`, HANDSHAKE));
    errorOf(reply, 503, 'unavailable');
    assert.deepEqual(reply.headers['retry-after'], ['7']);
    assert.equal(reply.headers['x-powered-by'], undefined);
    for (const beginning of ['', 'HTTP/1.1 503 x\r\nContent-Length: 99\r\n\r\n{']) {
      testGateway.sync.onUpgrade = (_req, socket) => socket.write(beginning, () => socket.destroy());
      errorOf(
        await exchange(testGateway.api, request(`GET /sync/ws?token=${testGateway.fullKey}`, HANDSHAKE)),
        503,
        'unavailable',
      );
    }
    testGateway.sync.onUpgrade = onUpgrade;
  });

  it('forwards what the client sent before the answer to its handshake', async () => {
    const client = await RawClient.open(testGateway.api);
    const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
    client.send(request(`GET /sync/ws?token=${testGateway.fullKey}`, HANDSHAKE)).send(ping);
    assert.equal((await client.reply()).status, 101);
    assert.deepEqual(await client.bytes(2), Buffer.from([0x8a, 0x00]));
    client.destroy();
  });

  it('pauses the service for a client that stops reading, which later gets everything [never.unbounded]', async () => {
    const socket = await connect(testGateway);
    socket.pause();
    const [server] = service.sockets;
    assert.ok(server);
    const frame = Buffer.alloc(256 * 1024, 'x');
    let sent = 0;
    while (server.bufferedAmount < 4 * 1024 * 1024 && sent < 400) {
      server.send(frame);
      sent += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(sent < 400, 'the gateway buffered 100 MB for a client that reads nothing');
    let received = 0;
    socket.on('message', () => (received += 1));
    socket.resume();
    await eventually(() => received === sent);
    socket.terminate();
  });

  it('limits parallel handshakes with a service: of one network to all but one; the others wait, and requests are not delayed [never.unbounded]', async () => {
    const { onUpgrade } = testGateway.sync;
    const pending: (() => void)[] = [];
    testGateway.sync.onUpgrade = (...upgrade) => void pending.push(() => onUpgrade(...upgrade));
    const handshakesAtOnce = EDGE_LIMITS.handshakesAtOnce - 1;
    const wave = Array.from({ length: handshakesAtOnce + 30 }, () => connect(testGateway));
    await eventually(() => pending.length === handshakesAtOnce);
    const credential = `Authorization: Bearer ${testGateway.fullKey}`;
    assert.equal((await exchange(testGateway.api, request('GET /sync/deltas', [credential]))).status, 200);
    wave.push(connect(testGateway, testGateway.newKey(['read']).token));
    await eventually(() => pending.length > handshakesAtOnce);
    pending.pop()?.();
    pending.shift()?.();
    await eventually(() => pending.length === handshakesAtOnce);
    testGateway.sync.onUpgrade = onUpgrade;
    for (const answer of pending) answer();
    for (const socket of await Promise.all(wave)) socket.terminate();
    assert.equal(service.requests.length, wave.length);
  });

  it('sends no handshake for a client that disconnected while it waited', async () => {
    const { onUpgrade } = testGateway.sync;
    const pending: (() => void)[] = [];
    testGateway.sync.onUpgrade = (...upgrade) => void pending.push(() => onUpgrade(...upgrade));
    const handshakesAtOnce = EDGE_LIMITS.handshakesAtOnce - 1;
    const first = Array.from({ length: handshakesAtOnce }, () => connect(testGateway));
    await eventually(() => pending.length === handshakesAtOnce);
    const leaving = await Promise.all(Array.from({ length: 10 }, () => RawClient.open(testGateway.api)));
    for (const client of leaving) {
      client.send(request(`GET /sync/ws?token=${testGateway.fullKey}`, HANDSHAKE));
      client.socket.end();
    }
    await Promise.all(leaving.map(({ socket }) => once(socket, 'close')));
    // Clients that waited before this one were served before it.
    const last = connect(testGateway);
    testGateway.sync.onUpgrade = onUpgrade;
    for (const answer of pending) answer();
    for (const socket of await Promise.all([...first, last])) socket.terminate();
    assert.equal(service.requests.length, handshakesAtOnce + 1);
  });

  it('ends both sides when one ends or breaks off', async () => {
    for (const end of ['terminate', 'close'] as const) {
      const socket = await connect(testGateway);
      const server = service.sockets.at(-1);
      assert.ok(server);
      socket[end]();
      await eventually(() => server.readyState === WebSocket.CLOSED);

      const other = await connect(testGateway);
      const peer = service.sockets.at(-1);
      peer?.[end]();
      await once(other, 'close');
    }
  });

  it('writes no token to the log, whether it was good, bad or refused', async () => {
    const tokens = [testGateway.fullKey, 'wts_wrongButSecret', testGateway.jwt()];
    for (const token of tokens) {
      for (const lines of [HANDSHAKE, []])
        for (const path of ['/sync/ws', '/nowhere'])
          await exchange(testGateway.api, request(`GET ${path}?token=${token}`, lines));
    }
    await eventually(() => testGateway.logs().includes('"route":"syncSocket"'));
    for (const token of tokens) assert.ok(!testGateway.logs().includes(token), 'a token is in the log');
  });
});

describe('the number of sockets', () => {
  it('is limited below that of connections: one more gets 503 with Retry-After, and requests are served [never.unbounded]', async () => {
    const testGateway = await startTestGateway({ CONNECTIONS_MAX: '64', TRUSTED_PROXIES: '127.0.0.1' });
    serveSockets(testGateway);
    const open = (_: unknown, n: number): Promise<WebSocket> =>
      connect(testGateway, testGateway.fullKey, `10.0.0.${n}`);
    const sockets = await Promise.all(Array.from({ length: 60 }, open));
    const reply = await exchange(testGateway.api, request(`GET /sync/ws?token=${testGateway.fullKey}`, HANDSHAKE));
    assert.match(String(errorOf(reply, 503, 'unavailable').message), /sockets/);
    assert.match(String(reply.headers['retry-after']), /^[1-5]$/);
    const credential = `Authorization: Bearer ${testGateway.fullKey}`;
    assert.equal((await exchange(testGateway.api, request('GET /sync/deltas', [credential]))).status, 200);
    sockets.pop()?.terminate();
    await eventually(() => testGateway.logs().includes('"status":101'));
    (await connect(testGateway)).terminate();
    for (const socket of sockets) socket.terminate();
    await testGateway.close();
  });
});

describe('the sockets of one caller', () => {
  it('are limited for all keys together, and each that ends or fails frees a place [limits.at-once.caller, never.unbounded]', async () => {
    const testGateway = await startTestGateway();
    serveSockets(testGateway);
    const heavy = testGateway.newKey(['read']).token;
    const { socketsOfCallerMax } = EDGE_LIMITS;
    const { onUpgrade } = testGateway.sync;
    testGateway.sync.onUpgrade = (_req, socket) => socket.destroy();
    const handshake = request(`GET /sync/ws?token=${heavy}`, HANDSHAKE);
    errorOf(await exchange(testGateway.api, handshake), 503, 'unavailable');
    testGateway.sync.onUpgrade = onUpgrade;
    const sockets = await Promise.all(Array.from({ length: socketsOfCallerMax }, () => connect(testGateway, heavy)));
    const refused = await exchange(testGateway.api, handshake);
    assert.match(String(errorOf(refused, 429, 'rate_limited').message), /sockets/);
    (await connect(testGateway)).terminate();
    sockets.pop()?.terminate();
    await eventually(async () => {
      const client = await RawClient.open(testGateway.api);
      const { status } = await client.send(handshake).reply();
      client.destroy();
      return status === 101;
    });
    for (const socket of sockets) socket.terminate();
    await testGateway.close();
  });
});

describe('the sockets of a gateway that stops', () => {
  it('end after everything the service had sent, without a close frame, on both sides', async () => {
    const testGateway = await startTestGateway();
    const service = serveSockets(testGateway);
    const sockets = await Promise.all(Array.from({ length: 5 }, () => connect(testGateway)));
    const received: number[] = [];
    for (const socket of sockets) socket.on('message', (data: Buffer) => received.push(data.length));
    const codes = Promise.all(sockets.map(async (socket) => ((await once(socket, 'close')) as [number])[0]));
    const big = Buffer.alloc(3_000_000, 'x');
    for (const server of service.sockets) server.send(big);
    const closing = testGateway.service.close();
    assert.deepEqual(await codes, [1006, 1006, 1006, 1006, 1006]);
    assert.deepEqual(
      received,
      sockets.map(() => big.length),
    );
    assert.ok(service.sockets.every(({ readyState }) => readyState >= WebSocket.CLOSING));
    await closing;
    await testGateway.close();
  });

  it('forward nothing to the service after their end, also not the rest of a frame', async () => {
    const testGateway = await startTestGateway();
    const service = serveSockets(testGateway);
    const client = await RawClient.open(testGateway.api);
    client.send(request(`GET /sync/ws?token=${testGateway.fullKey}`, HANDSHAKE));
    assert.equal((await client.reply()).status, 101);
    const messages: string[] = [];
    service.sockets[0]?.on('message', (data: Buffer) => messages.push(data.toString()));
    // A whole frame first, whose echo shows that the half one after it has arrived.
    client.send(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0x2d, 0x81, 0x84, 0, 0, 0, 0, 0x61, 0x62]));
    assert.equal((await client.bytes(3)).toString('latin1'), '\x81\x01-');
    const closing = testGateway.service.close();
    await client.ended();
    client.send(Buffer.from([0x63, 0x64]));
    assert.deepEqual(messages, ['-']);
    client.destroy();
    await closing;
    await testGateway.close();
  });

  it('are destroyed within the grace time when the service does not end its side', async () => {
    const testGateway = await startTestGateway({ SHUTDOWN_GRACE_MS: '300' });
    testGateway.sync.onUpgrade = (_req, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.on('error', () => undefined);
    };
    const client = await RawClient.open(testGateway.api);
    client.send(request(`GET /sync/ws?token=${testGateway.fullKey}`, HANDSHAKE));
    assert.equal((await client.reply()).status, 101);
    await testGateway.close();
    await client.ended();
    client.destroy();
  });
});

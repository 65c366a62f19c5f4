import { eventually, freePort } from '@wts/testkit';
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { RawClient, errorOf, request, exchange } from './raw.ts';
import { FakeService } from './fake-service.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

describe('the gateway', () => {
  let testGateway: TestGateway;
  let credential: string;
  before(async () => {
    testGateway = await startTestGateway();
    credential = `Authorization: Bearer ${testGateway.fullKey}`;
  });
  after(() => testGateway.close());
  beforeEach(() => {
    testGateway.sync.reset();
    testGateway.workspace.reset();
  });
  const deltas = (...lines: string[]): string => request('GET /sync/deltas?after=0', [credential, ...lines]);

  it('forwards a request with its path, content headers and request id, and without identity headers of the client [authentication.identity.not-forged]', async () => {
    await exchange(
      testGateway.api,
      deltas(
        'Accept: application/json',
        'Accept-Encoding: gzip',
        'User-Agent: test',
        'Traceparent: 00-aa-bb-01',
        'X-Request-Id: my-id',
        'Idempotency-Key: k',
        'If-None-Match: "e"',
        'Api-Version: 1',
        'X-Forwarded-For: 6.6.6.6',
        'X-Forwarded-Host: evil',
        'Forwarded: for=6.6.6.6',
        'X-Real-IP: 6.6.6.6',
        'CF-Connecting-IP: 6.6.6.6',
        'X-User-Id: root',
        'X-Internal-User: root',
        'X-Wts-Anything: root',
        'X-Wts-Network: 6.6.6.6',
        'Cookie: a=b',
        'Connection: keep-alive, X-Custom, If-None-Match',
        'X-Custom: 1',
        'TE: trailers',
        'Keep-Alive: timeout=9',
        'Proxy-Authorization: Basic x',
        'X-HTTP-Method-Override: DELETE',
        'Via: 1.0 proxy',
      ),
    );
    const { host, 'x-wts-principal': token, ...headers } = testGateway.sync.last.headers;
    assert.equal(testGateway.sync.last.url, '/sync/deltas?after=0');
    assert.equal(host, new URL(testGateway.sync.url).host);
    assert.equal(typeof token, 'string');
    assert.deepEqual(headers, {
      connection: 'keep-alive',
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'test',
      'x-request-id': 'my-id',
      'idempotency-key': 'k',
      'x-wts-network': '127.0.0.1',
    });
  });

  it('forwards a body byte for byte, with any coding, with a length or in chunks', async () => {
    const body = '\x1f\x8b\x00\xff not really gzip \r\n\r\n';
    const lines = [credential, 'Content-Type: application/json', 'Content-Encoding: gzip'];
    await exchange(testGateway.api, request('POST /sync/mutate', [...lines, `Content-Length: ${body.length}`], body));
    assert.equal(testGateway.sync.last.body.toString('latin1'), body);
    assert.equal(testGateway.sync.last.headers['content-encoding'], 'gzip');

    const chunked = body
      .split('')
      .map((letter) => `1\r\n${letter}\r\n`)
      .join('');
    await exchange(
      testGateway.api,
      request('POST /sync/mutate', [...lines, 'Transfer-Encoding: chunked'], `${chunked}0\r\n\r\n`),
    );
    assert.equal(testGateway.sync.last.body.toString('latin1'), body);
    // The service bounds the chunks of a body without a length.
    assert.equal(testGateway.sync.last.headers['content-length'], String(body.length));
    assert.equal(testGateway.sync.last.headers['transfer-encoding'], undefined);
  });

  it('returns an answer with its status, body and headers, without hop-by-hop and server headers', async () => {
    testGateway.sync.answer = (_req, res) => {
      res.writeHead(409, 'Odd', [
        'Content-Type',
        'application/json',
        'X-Powered-By',
        'Express',
        'Server',
        'secret/1.0',
        'ETag',
        '"e"',
        'Connection',
        'keep-alive, X-Hop',
        'X-Hop',
        '1',
        'Keep-Alive',
        'timeout=99',
        'Api-Version',
        '9',
        'X-Request-Id',
        'theirs',
        'Access-Control-Allow-Origin',
        '*',
        'X-Wts-Principal',
        'leak',
        'Vary',
        'Accept',
      ]);
      res.end('{"ok":false}');
    };
    const reply = await exchange(testGateway.api, deltas('X-Request-Id: mine'));
    assert.equal(reply.status, 409);
    assert.equal(reply.body, '{"ok":false}');
    assert.deepEqual(reply.headers['api-version'], ['1']);
    assert.deepEqual(reply.headers['x-request-id'], ['mine']);
    assert.deepEqual(reply.headers.etag, ['"e"']);
    assert.deepEqual(reply.headers.vary, ['Accept']);
    assert.deepEqual(reply.headers['keep-alive'], ['timeout=65']);
    for (const name of ['x-powered-by', 'server', 'x-hop', 'access-control-allow-origin', 'x-wts-principal'])
      assert.equal(reply.headers[name], undefined, name);
  });

  it('returns 304, 204 and HEAD without a body, and keeps the connection', async () => {
    const client = await RawClient.open(testGateway.api);
    for (const status of [304, 204]) {
      testGateway.sync.answer = (_req, res) => void res.writeHead(status).end();
      assert.equal((await client.send(deltas()).reply()).status, status);
    }
    testGateway.sync.answer = (_req, res) => void res.writeHead(200, { 'content-length': 7 }).end('ignored');
    const head = request('HEAD /sync/deltas', [credential]);
    assert.deepEqual((await client.send(head).reply(true)).headers['content-length'], ['7']);
    assert.equal(testGateway.sync.last.method, 'HEAD');
    assert.equal((await client.send(request('GET /health')).reply()).status, 200);
    client.destroy();
  });

  it('answers requests of one connection in their order, and starts none before its turn, also when the client has closed its side [limits.half-closed]', async () => {
    const held: ServerResponse[] = [];
    testGateway.sync.answer = (_req, res) => void held.push(res);
    for (const isClosed of [false, true]) {
      testGateway.sync.started = 0;
      const client = await RawClient.open(testGateway.api);
      client.send(deltas() + deltas() + request('GET /health'));
      if (isClosed) client.socket.end();
      for (const count of [1, 2]) {
        await eventually(() => held.length > 0);
        assert.equal(testGateway.sync.started, count);
        held.pop()?.end(String(count));
        assert.equal((await client.reply()).body, String(count));
      }
      assert.equal((await client.reply()).status, 200);
      if (isClosed) await client.closed();
      client.destroy();
    }
  });

  it('pauses the service for a client that stops reading, which later gets every byte', async () => {
    const total = 32 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, 'x');
    let written = 0;
    testGateway.sync.answer = (_req, res) => {
      res.writeHead(200, { 'content-length': total });
      const write = (): void => {
        while (written < total) {
          written += piece.length;
          if (!res.write(piece)) return void res.once('drain', write);
        }
        res.end();
      };
      write();
    };
    const client = await RawClient.open(testGateway.api);
    client.socket.pause();
    client.send(deltas());
    let last = -1;
    await eventually(() => {
      const isHeld = written > 0 && written === last;
      last = written;
      return isHeld;
    });
    assert.ok(written < total / 2, `${written} bytes were taken from the service for a reader that reads nothing`);
    client.socket.resume();
    assert.equal((await client.reply()).body.length, total);
    client.destroy();
  });

  it('returns the status before the first byte of the body', async () => {
    let more: ServerResponse | null = null;
    testGateway.sync.answer = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders();
      more = res;
    };
    const client = await RawClient.open(testGateway.api);
    client.send(deltas());
    await eventually(() => client.received > 0);
    (more as ServerResponse | null)?.end('{}\n');
    assert.equal((await client.reply()).body, '{}\n');
    client.destroy();
  });

  it('cancels a request at the service when the client disconnects', async () => {
    let isCancelled = false;
    testGateway.sync.answer = (_req, res) => {
      res.writeHead(200).write('begun');
      res.once('close', () => (isCancelled = !res.writableFinished));
    };
    const client = await RawClient.open(testGateway.api);
    client.send(deltas());
    await client.bytes(1);
    client.destroy();
    await eventually(() => isCancelled);
  });

  it('cancels a request at the service before its answer', async () => {
    let isCancelled = false;
    testGateway.sync.answer = (req) => void req.socket.once('close', () => (isCancelled = true));
    const client = await RawClient.open(testGateway.api);
    client.send(deltas());
    await eventually(() => testGateway.sync.seen.length === 1);
    client.socket.resetAndDestroy();
    await eventually(() => isCancelled);
  });

  it('breaks off an answer when the service breaks off, instead of ending it', async () => {
    for (const head of [{ 'content-length': '100' }, { 'transfer-encoding': 'chunked' }]) {
      testGateway.sync.answer = (req, res) => {
        res.writeHead(200, head);
        res.write('half', () => req.socket.destroy());
      };
      const client = await RawClient.open(testGateway.api);
      await assert.rejects(client.send(deltas()).reply(), /ended before/);
      client.destroy();
    }
  });
});

describe('a service that fails', () => {
  let testGateway: TestGateway;
  let closedPort: number;
  let credential: string;
  before(async () => {
    closedPort = await freePort();
    testGateway = await startTestGateway();
    credential = `Authorization: Bearer ${testGateway.fullKey}`;
    await exchange(testGateway.api, request('GET /sync/deltas', [credential]));
  });
  after(() => testGateway.close());
  beforeEach(() => testGateway.sync.reset());

  const mutate = (): string => request('POST /sync/mutate', [credential, 'Content-Length: 2'], '{}');

  it('to accept connections gives 503 with Retry-After, and works again without a restart [errors.503.retry-after, errors.5xx.no-cause]', async () => {
    const { port } = testGateway.sync;
    await testGateway.sync.close();
    const reply = await exchange(testGateway.api, mutate());
    const body = errorOf(reply, 503, 'unavailable');
    assert.doesNotMatch(reply.body, /sync|refused|127\.0|:\d{4}/i);
    assert.deepEqual(reply.headers['retry-after'], [String(body.retryAfterSeconds)]);
    await testGateway.sync.listen(port);
    assert.equal((await exchange(testGateway.api, mutate())).status, 200);
  });

  it('to answer before it closes the connection gives 503, and the request is not sent elsewhere', async () => {
    const second = await FakeService.start('sync');
    const two = await startTestGateway({ SYNC_SERVICE_URL: `${testGateway.sync.url},${second.url}` });
    const hangUp: FakeService['answer'] = (req) => void req.socket.destroy();
    testGateway.sync.answer = hangUp;
    second.answer = hangUp;
    const lines = [`Authorization: Bearer ${two.fullKey}`, 'Content-Length: 2'];
    for (let count = 1; count <= 3; count += 1) {
      errorOf(await exchange(two.api, request('POST /sync/mutate', lines, '{}')), 503, 'unavailable');
      assert.equal(testGateway.sync.started + second.started, count);
    }
    await two.close();
    await second.close();
  });

  it('to answer in HTTP gives 503', async () => {
    testGateway.sync.answer = (req) => void req.socket.end('HTTP/1.1 banana\r\n\r\n');
    errorOf(await exchange(testGateway.api, mutate()), 503, 'unavailable');
  });

  it('at one address is skipped while another answers, and each request is sent once', async () => {
    const two = await startTestGateway({
      SYNC_SERVICE_URL: `http://127.0.0.1:${closedPort},${testGateway.sync.url},http://127.0.0.1:${closedPort}`,
    });
    const lines = [`Authorization: Bearer ${two.fullKey}`, 'Content-Length: 2'];
    for (let count = 1; count <= 5; count += 1) {
      assert.equal((await exchange(two.api, request('POST /sync/mutate', lines, '{}'))).status, 200);
      assert.equal(testGateway.sync.started, count);
    }
    const chunked = request(
      'POST /sync/mutate',
      [lines[0] as string, 'Transfer-Encoding: chunked'],
      '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n',
    );
    for (const target of [1, 2, 3]) {
      assert.equal((await exchange(two.api, chunked)).status, 200, `try ${target}`);
      assert.equal(testGateway.sync.last.body.toString(), '{}');
    }
    await two.close();
  });

  it('to accept the internal token gives 503, not 401', async () => {
    testGateway.sync.answer = (_req, res) =>
      void res.writeHead(401, { 'www-authenticate': 'Bearer' }).end('{"secret":1}');
    const reply = await exchange(testGateway.api, mutate());
    errorOf(reply, 503, 'unavailable');
    assert.equal(reply.headers['www-authenticate'], undefined);
    assert.match(testGateway.logs(), /sync refused the internal token/);
  });

  it('to keep idle connections open loses no request', async () => {
    for (let count = 1; count <= 3; count += 1) {
      assert.equal((await exchange(testGateway.api, mutate())).status, 200);
      testGateway.sync.server.closeIdleConnections();
    }
  });

  it('to answer in time gives 503, and the request there is cancelled', async () => {
    const impatient = await startTestGateway({ UPSTREAM_TIMEOUT_MS: '200', SYNC_SERVICE_URL: testGateway.sync.url });
    let isCancelled = false;
    testGateway.sync.answer = (req) => void req.socket.once('close', () => (isCancelled = true));
    const lines = [`Authorization: Bearer ${impatient.fullKey}`];
    errorOf(await exchange(impatient.api, request('GET /sync/deltas', lines)), 503, 'unavailable');
    await eventually(() => isCancelled);
    await impatient.close();
  });
});

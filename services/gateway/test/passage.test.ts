import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { LIMITS } from '@wts/contracts';
import { RawClient, errorOf, request, say } from './raw.ts';
import { freePort, startWorld, until } from './world.ts';
import type { World } from './world.ts';

describe('what passes through the gateway', () => {
  let world: World;
  let credential: string;
  before(async () => {
    world = await startWorld();
    credential = `Authorization: Bearer ${world.fullKey}`;
  });
  after(() => world.close());
  beforeEach(() => {
    world.sync.reset();
    world.workspace.reset();
  });
  const deltas = (...lines: string[]): string => request('GET /sync/deltas?after=0', [credential, ...lines]);

  it('is a request with its address, its content headers and a request id, and none of the claims of the client', async () => {
    await say(
      world.api,
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
        'Cookie: a=b',
        'Connection: keep-alive, X-Custom, If-None-Match',
        'X-Custom: 1',
        'TE: trailers',
        'Keep-Alive: timeout=9',
        'Proxy-Authorization: Basic x',
        'X-HTTP-Method-Override: DELETE',
        'Via: 1.0 somebody',
      ),
    );
    const { host, 'x-wts-principal': token, ...headers } = world.sync.last.headers;
    assert.equal(world.sync.last.url, '/sync/deltas?after=0');
    assert.equal(host, new URL(world.sync.url).host);
    assert.equal(typeof token, 'string');
    assert.deepEqual(headers, {
      connection: 'keep-alive',
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'test',
      traceparent: '00-aa-bb-01',
      'x-request-id': 'my-id',
      'idempotency-key': 'k',
    });
  });

  it('is a body byte for byte, whatever its coding says, with its length or in chunks', async () => {
    const body = '\x1f\x8b\x00\xff not really gzip \r\n\r\n';
    const lines = [credential, 'Content-Type: application/json', 'Content-Encoding: gzip'];
    await say(world.api, request('POST /sync/mutate', [...lines, `Content-Length: ${body.length}`], body));
    assert.equal(world.sync.last.body.toString('latin1'), body);
    assert.equal(world.sync.last.headers['content-encoding'], 'gzip');

    const chunked = body
      .split('')
      .map((letter) => `1\r\n${letter}\r\n`)
      .join('');
    await say(world.api, request('POST /sync/mutate', [...lines, 'Transfer-Encoding: chunked'], `${chunked}0\r\n\r\n`));
    assert.equal(world.sync.last.body.toString('latin1'), body);
  });

  it('is an answer with its status, body and headers, without those of the hop and of the maker', async () => {
    world.sync.answer = (_req, res) => {
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
    const reply = await say(world.api, deltas('X-Request-Id: mine'));
    assert.equal(reply.status, 409);
    assert.equal(reply.body, '{"ok":false}');
    assert.deepEqual(reply.headers['api-version'], ['1']);
    assert.deepEqual(reply.headers['x-request-id'], ['mine']);
    assert.deepEqual(reply.headers.etag, ['"e"']);
    assert.deepEqual(reply.headers.vary, ['Accept']);
    assert.deepEqual(reply.headers['keep-alive'], ['timeout=65']);
    for (const name of ['x-powered-by', 'server', 'x-hop', 'access-control-allow-origin', 'x-wts-principal']) {
      assert.equal(reply.headers[name], undefined, name);
    }
  });

  it('is 304, 204 and HEAD without a body, and the connection goes on', async () => {
    const client = await RawClient.open(world.api);
    for (const status of [304, 204]) {
      world.sync.answer = (_req, res) => void res.writeHead(status).end();
      assert.equal((await client.send(deltas()).reply()).status, status);
    }
    world.sync.answer = (_req, res) => void res.writeHead(200, { 'content-length': 7 }).end('ignored');
    const head = request('HEAD /sync/deltas', [credential]);
    assert.deepEqual((await client.send(head).reply(true)).headers['content-length'], ['7']);
    assert.equal(world.sync.last.method, 'HEAD');
    assert.equal((await client.send(request('GET /health')).reply()).status, 200);
    client.destroy();
  });

  it('answers requests of one connection in their order, and starts none before its turn', async () => {
    const held: ServerResponse[] = [];
    world.sync.answer = (_req, res) => void held.push(res);
    const client = await RawClient.open(world.api);
    client.send(deltas() + deltas() + request('GET /health'));
    for (const count of [1, 2]) {
      await until('it is at the service', () => held.length > 0);
      assert.equal(world.sync.started, count);
      held.pop()?.end(String(count));
      assert.equal((await client.reply()).body, String(count));
    }
    assert.equal((await client.reply()).status, 200);
    client.destroy();
  });

  it('comes in bounded pieces: a reader that stops holds the service, and gets every byte when it goes on', async () => {
    const total = 32 * 1024 * 1024;
    const piece = Buffer.alloc(64 * 1024, 'x');
    let written = 0;
    world.sync.answer = (_req, res) => {
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
    const client = await RawClient.open(world.api);
    client.socket.pause();
    client.send(deltas());
    let last = -1;
    await until('the service is held', () => {
      const isHeld = written > 0 && written === last;
      last = written;
      return isHeld;
    });
    assert.ok(written < total / 2, `${written} bytes were taken from the service for a reader that reads nothing`);
    client.socket.resume();
    assert.equal((await client.reply()).body.length, total);
    client.destroy();
  });

  it('begins at once, also when the first byte of it is yet to come', async () => {
    let more: ServerResponse | null = null;
    world.sync.answer = (_req, res) => {
      res.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders();
      more = res;
    };
    const client = await RawClient.open(world.api);
    client.send(deltas());
    await until('the head is there', () => client.received > 0);
    (more as ServerResponse | null)?.end('{}\n');
    assert.equal((await client.reply()).body, '{}\n');
    client.destroy();
  });

  it('is cancelled at the service when the client leaves', async () => {
    let isCancelled = false;
    world.sync.answer = (_req, res) => {
      res.writeHead(200).write('begun');
      res.once('close', () => (isCancelled = !res.writableFinished));
    };
    const client = await RawClient.open(world.api);
    client.send(deltas());
    await client.bytes(1);
    client.destroy();
    await until('the service hears of it', () => isCancelled);
  });

  it('is cancelled at the service also before it answered', async () => {
    let isCancelled = false;
    world.sync.answer = (req) => void req.socket.once('close', () => (isCancelled = true));
    const client = await RawClient.open(world.api);
    client.send(deltas());
    await until('it is there', () => world.sync.seen.length === 1);
    client.destroy();
    await until('the service hears of it', () => isCancelled);
  });

  it('is cut off, not ended, when the service breaks off in the middle', async () => {
    for (const head of [{ 'content-length': '100' }, { 'transfer-encoding': 'chunked' }]) {
      world.sync.answer = (req, res) => {
        res.writeHead(200, head);
        res.write('half', () => req.socket.destroy());
      };
      const client = await RawClient.open(world.api);
      await assert.rejects(client.send(deltas()).reply(), /ended before/);
      client.destroy();
    }
  });
});

describe('what the gateway bounds', () => {
  let world: World;
  let credential: string;
  before(async () => {
    world = await startWorld();
    credential = `Authorization: Bearer ${world.fullKey}`;
    await say(world.api, request('GET /sync/deltas', [credential]));
  });
  after(() => world.close());
  beforeEach(() => world.sync.reset());

  const head = (...lines: string[]): string => request('POST /sync/mutate', [credential, ...lines]);

  it('refuses a declared body over the bound of its operation before a byte of it is sent on', async () => {
    for (const [line, bytesMax, standIn] of [
      ['POST /sync/mutate', LIMITS.mutateBodyBytes, world.sync],
      ['POST /api/workspaces', LIMITS.bodyBytes, world.workspace],
    ] as const) {
      const reply = await say(world.api, request(line, [credential, `Content-Length: ${bytesMax + 1}`]));
      errorOf(reply, 413, 'payload_too_large');
      assert.deepEqual(reply.headers.connection, ['close']);
      assert.equal(standIn.started, 0);
    }
  });

  it('lets a body of exactly the bound through, declared or chunked', async () => {
    const body = 'x'.repeat(LIMITS.mutateBodyBytes);
    assert.equal((await say(world.api, `${head(`Content-Length: ${body.length}`)}${body}`)).status, 200);
    assert.equal(world.sync.last.body.length, body.length);
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    assert.equal((await say(world.api, head('Transfer-Encoding: chunked') + chunk)).status, 200);
    assert.equal(world.sync.last.body.length, body.length);
  });

  it('cuts a chunked body the moment it passes the bound, answers 413, and stops reading', async () => {
    const client = await RawClient.open(world.api);
    client.send(head('Transfer-Encoding: chunked'));
    const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`);
    let isSending = true;
    client.socket.once('close', () => (isSending = false));
    void (async () => {
      while (isSending && !client.socket.destroyed)
        if (!client.socket.write(chunk)) await once(client.socket, 'drain').catch(() => null);
    })();
    const reply = await client.reply();
    errorOf(reply, 413, 'payload_too_large');
    assert.deepEqual(reply.headers.connection, ['close']);
    await client.ended();
    client.destroy();
    assert.equal(world.sync.seen.length, 0, 'the service got a whole body');
  });

  it('gives a client that sends all of a refused body its answer instead of a reset', async () => {
    const size = 6 * 1024 * 1024;
    const client = await RawClient.open(world.api);
    client.send(head(`Content-Length: ${size}`));
    client.send(Buffer.alloc(size, 'x'));
    errorOf(await client.reply(), 413, 'payload_too_large');
    client.destroy();
  });

  it('asks for a body that is held back only when it will be read', async () => {
    const client = await RawClient.open(world.api);
    client.send(head('Expect: 100-continue', 'Content-Length: 2'));
    assert.equal((await client.reply()).status, 100);
    client.send('{}');
    assert.equal((await client.reply()).status, 200);
    client.send(head('Expect: 100-continue', `Content-Length: ${LIMITS.mutateBodyBytes + 1}`));
    errorOf(await client.reply(), 413);
    await client.ended();
    client.destroy();
    const stranger = request('POST /sync/mutate', ['Expect: 100-continue', 'Content-Length: 2']);
    const refused = await say(world.api, stranger);
    errorOf(refused, 401);
    assert.deepEqual(refused.headers.connection, ['close']);
    errorOf(await say(world.api, head('Expect: something-else', 'Content-Length: 2')), 417, 'expectation_failed');
  });

  it('refuses too many, too large and too long headers and addresses with 431', async () => {
    const many = Array.from({ length: LIMITS.headerCount }, (_, at) => `X-${at}: 1`);
    errorOf(await say(world.api, request('GET /health', many)), 431, 'headers_too_large');
    errorOf(await say(world.api, request('GET /health', [...many, ...many, ...many])), 431, 'headers_too_large');
    errorOf(await say(world.api, request('GET /health', [`X-A: ${'a'.repeat(17 * 1024)}`])), 431, 'headers_too_large');
    errorOf(await say(world.api, request(`GET /health?${'a'.repeat(LIMITS.urlBytes)}`)), 431, 'headers_too_large');
  });
});

describe('a service that fails', () => {
  let world: World;
  let dead: number;
  let credential: string;
  before(async () => {
    dead = await freePort();
    world = await startWorld();
    credential = `Authorization: Bearer ${world.fullKey}`;
    await say(world.api, request('GET /sync/deltas', [credential]));
  });
  after(() => world.close());
  beforeEach(() => world.sync.reset());

  const mutate = (): string => request('POST /sync/mutate', [credential, 'Content-Length: 2'], '{}');

  it('by being gone is answered 503 with Retry-After, and works again without a restart', async () => {
    const { port } = world.sync;
    await world.sync.close();
    const reply = await say(world.api, mutate());
    const body = errorOf(reply, 503, 'unavailable');
    assert.equal(body.message, undefined);
    assert.deepEqual(reply.headers['retry-after'], [String(body.retryAfterSeconds)]);
    await world.sync.listen(port);
    assert.equal((await say(world.api, mutate())).status, 200);
  });

  it('by hanging up without an answer is 503 once: what may have been done is not done again', async () => {
    world.sync.answer = (req) => void req.socket.destroy();
    errorOf(await say(world.api, mutate()), 503, 'unavailable');
    assert.equal(world.sync.started, 1);
  });

  it('by answering nonsense is 503', async () => {
    world.sync.answer = (req) => void req.socket.end('HTTP/1.1 banana\r\n\r\n');
    errorOf(await say(world.api, mutate()), 503, 'unavailable');
  });

  it('at one address is passed over while another answers, and each request is done once', async () => {
    const two = await startWorld({ SYNC_URL: `http://127.0.0.1:${dead},${world.sync.url},http://127.0.0.1:${dead}` });
    const lines = [`Authorization: Bearer ${two.fullKey}`, 'Content-Length: 2'];
    for (let count = 1; count <= 5; count += 1) {
      assert.equal((await say(two.api, request('POST /sync/mutate', lines, '{}'))).status, 200);
      assert.equal(world.sync.started, count);
    }
    const chunked = request(
      'POST /sync/mutate',
      [lines[0] as string, 'Transfer-Encoding: chunked'],
      '2\r\n{}\r\n0\r\n\r\n',
    );
    for (const target of [1, 2, 3]) {
      assert.equal((await say(two.api, chunked)).status, 200, `try ${target}`);
      assert.equal(world.sync.last.body.toString(), '{}');
    }
    await two.close();
  });

  it('by closing idle connections costs no request', async () => {
    for (let count = 1; count <= 3; count += 1) {
      assert.equal((await say(world.api, mutate())).status, 200);
      world.sync.server.closeIdleConnections();
    }
  });

  it('by taking too long to begin is 503, and the request there is cancelled', async () => {
    const impatient = await startWorld({ UPSTREAM_TIMEOUT_MS: '200', SYNC_URL: world.sync.url });
    let isCancelled = false;
    world.sync.answer = (req) => void req.socket.once('close', () => (isCancelled = true));
    const lines = [`Authorization: Bearer ${impatient.fullKey}`];
    errorOf(await say(impatient.api, request('GET /sync/deltas', lines)), 503, 'unavailable');
    await until('the service hears of it', () => isCancelled);
    await impatient.close();
  });
});

describe('a client that takes nothing of its answer', () => {
  it('is cut after a while, and the service is freed', async () => {
    const world = await startWorld({ CLIENT_STALLED_MS: '200' });
    let isFreed = false;
    world.sync.answer = (_req, res) => {
      const piece = Buffer.alloc(256 * 1024);
      const write = (): void => {
        while (res.write(piece));
        res.once('drain', write);
      };
      res.once('close', () => (isFreed = true));
      write();
    };
    const client = await RawClient.open(world.api);
    client.socket.pause();
    client.send(request('GET /sync/deltas', [`Authorization: Bearer ${world.fullKey}`]));
    await until('the service is freed', () => isFreed);
    client.destroy();
    await world.close();
  });
});

import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { LIMITS } from '@wts/contracts';
import { EDGE_LIMITS } from '../src/limits.ts';
import { RawClient, errorOf, request, exchange, type RawReply } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

describe('the limits of the gateway', () => {
  let testGateway: TestGateway;
  let credential: string;
  before(async () => {
    testGateway = await startTestGateway();
    credential = `Authorization: Bearer ${testGateway.fullKey}`;
    await exchange(testGateway.api, request('GET /sync/deltas', [credential]));
  });
  after(() => testGateway.close());
  beforeEach(() => testGateway.sync.reset());

  const head = (...lines: string[]): string => request('POST /sync/mutate', [credential, ...lines]);

  it('refuse a declared body over the limit of its operation before a byte is forwarded [errors.413.body, limits.body.mutate, limits.body.rest]', async () => {
    for (const [line, bytesMax, fakeService] of [
      ['POST /sync/mutate', LIMITS.mutateBodyBytes, testGateway.sync],
      ['POST /api/workspaces', LIMITS.bodyBytes, testGateway.workspace],
    ] as const) {
      const reply = await exchange(testGateway.api, request(line, [credential, `Content-Length: ${bytesMax + 1}`]));
      errorOf(reply, 413, 'payload_too_large');
      assert.deepEqual(reply.headers.connection, ['close']);
      assert.equal(fakeService.started, 0);
    }
  });

  it('accept a body of exactly the limit, declared or chunked', async () => {
    const body = 'x'.repeat(LIMITS.mutateBodyBytes);
    assert.equal((await exchange(testGateway.api, `${head(`Content-Length: ${body.length}`)}${body}`)).status, 200);
    assert.equal(testGateway.sync.last.body.length, body.length);
    const chunk = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    assert.equal((await exchange(testGateway.api, head('Transfer-Encoding: chunked') + chunk)).status, 200);
    assert.equal(testGateway.sync.last.body.length, body.length);
  });

  it('refuse a chunked body with more chunks than a body needs, and read no more of it [never.unbounded]', async () => {
    const client = await RawClient.open(testGateway.api);
    client.send(head('Transfer-Encoding: chunked') + '1\r\nx\r\n'.repeat(30_000));
    const reply = await client.reply();
    const { message } = errorOf(reply, 400, 'malformed_request');
    assert.match(message ?? '', /at most 20000 chunks; send larger ones, or a Content-Length/);
    client.destroy();
  });

  it('refuse a chunked body with 413 as soon as it exceeds the limit, and read no more of it', async () => {
    const client = await RawClient.open(testGateway.api);
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
    assert.equal(testGateway.sync.seen.length, 0, 'the service got a whole body');
  });

  /** Requests of a caller that begin and never end; `drip` keeps each of them open. */
  function beginnings(token: string): { readonly first: string; readonly drip: string }[] {
    const mutate = (...lines: string[]): string =>
      request('POST /sync/mutate', [`Authorization: Bearer ${token}`, 'Content-Type: application/json', ...lines]);
    return [
      { first: `GET /sync/deltas HTTP/1.1\r\nHost: api.test\r\nAuthorization: Bearer ${token}\r\nX-A: `, drip: 'x' },
      { first: mutate('Content-Length: 900'), drip: 'x' },
      { first: `${mutate('Content-Length: 3000000')}${'x'.repeat(100_000)}`, drip: 'x' },
      { first: mutate('Transfer-Encoding: chunked'), drip: '1\r\nx\r\n' },
    ];
  }

  async function sendSlowly(count: number, tokens: readonly string[]): Promise<{ client: RawClient; drip: string }[]> {
    const kinds = tokens.flatMap(beginnings);
    return Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const { first = '', drip = '' } = kinds[index % kinds.length] ?? {};
        return { client: (await RawClient.open(testGateway.api)).send(first), drip };
      }),
    );
  }

  it('let 200 slow senders hold no connection to a service, while others are served [limits.time.slow-sender, never.unbounded]', async () => {
    const slow = await sendSlowly(
      200,
      Array.from({ length: 5 }, () => testGateway.newKey(['write']).token),
    );
    try {
      for (let count = 0; count < 10; count += 1) {
        assert.equal((await exchange(testGateway.api, request('GET /sync/deltas', [credential]))).status, 200);
        for (const { client, drip } of slow) client.send(drip);
      }
      assert.equal(testGateway.sync.started, 10, 'only whole requests reach the service');
    } finally {
      for (const { client } of slow) client.destroy();
    }
  });

  it('give a caller only a share of the gateway, which is free again afterwards [limits.at-once.caller]', async () => {
    const [heavy, other] = [testGateway.newKey(['write']).token, testGateway.newKey(['write']).token];
    const call = (token: string): Promise<RawReply> =>
      exchange(testGateway.api, request('GET /sync/deltas', [`Authorization: Bearer ${token}`]));
    assert.equal((await call(heavy)).status, 200);
    const { first } = beginnings(heavy)[1] ?? { first: '' };
    const open = Array.from({ length: EDGE_LIMITS.requestsOfCallerMax }, () => RawClient.open(testGateway.api));
    const slow = await Promise.all(open);
    try {
      for (const client of slow) client.send(first);
      await eventually(async () => (await call(heavy)).status === 429);
      const refused = await call(heavy);
      errorOf(refused, 429, 'rate_limited');
      assert.deepEqual(refused.headers['retry-after'], ['1']);
      assert.equal((await call(other)).status, 200);
    } finally {
      for (const client of slow) client.destroy();
    }
    await eventually(async () => (await call(heavy)).status === 200);
  });

  it('answer a client that sends all of a refused body, without a TCP reset', async () => {
    const size = 6 * 1024 * 1024;
    const client = await RawClient.open(testGateway.api);
    client.send(head(`Content-Length: ${size}`));
    client.send(Buffer.alloc(size, 'x'));
    errorOf(await client.reply(), 413, 'payload_too_large');
    client.destroy();
  });

  it('send 100 Continue only when the body will be read', async () => {
    const client = await RawClient.open(testGateway.api);
    client.send(head('Expect: 100-continue', 'Content-Length: 2'));
    assert.equal((await client.reply()).status, 100);
    client.send('{}');
    assert.equal((await client.reply()).status, 200);
    client.send(head('Expect: 100-continue', `Content-Length: ${LIMITS.mutateBodyBytes + 1}`));
    errorOf(await client.reply(), 413);
    await client.ended();
    client.destroy();
    const anonymous = request('POST /sync/mutate', ['Expect: 100-continue', 'Content-Length: 2']);
    const refused = await exchange(testGateway.api, anonymous);
    errorOf(refused, 401);
    assert.deepEqual(refused.headers.connection, ['close']);
    errorOf(
      await exchange(testGateway.api, head('Expect: something-else', 'Content-Length: 2')),
      417,
      'expectation_failed',
    );
  });

  it('refuse too many headers, and too large headers and targets, with 431 [errors.431.headers]', async () => {
    const many = Array.from({ length: LIMITS.headerCount }, (_, at) => `X-${at}: 1`);
    errorOf(await exchange(testGateway.api, request('GET /health', many)), 431, 'headers_too_large');
    errorOf(
      await exchange(testGateway.api, request('GET /health', [...many, ...many, ...many])),
      431,
      'headers_too_large',
    );
    errorOf(
      await exchange(testGateway.api, request('GET /health', [`X-A: ${'a'.repeat(17 * 1024)}`])),
      431,
      'headers_too_large',
    );
    errorOf(
      await exchange(testGateway.api, request(`GET /health?${'a'.repeat(LIMITS.urlBytes)}`)),
      431,
      'headers_too_large',
    );
  });
});

describe('a client that does not read its answer', () => {
  it('is disconnected, and its service connection is free again [never.unbounded]', async () => {
    const testGateway = await startTestGateway({ CLIENT_STALLED_MS: '200' });
    let isFreed = false;
    testGateway.sync.answer = (_req, res) => {
      const piece = Buffer.alloc(256 * 1024);
      const write = (): void => {
        while (res.write(piece));
        res.once('drain', write);
      };
      res.once('close', () => (isFreed = true));
      write();
    };
    const client = await RawClient.open(testGateway.api);
    client.socket.pause();
    client.send(request('GET /sync/deltas', [`Authorization: Bearer ${testGateway.fullKey}`]));
    await eventually(() => isFreed);
    client.destroy();
    await testGateway.close();
  });
});

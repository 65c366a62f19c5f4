import { eventually, openProxy, type Proxy } from '@wts/testkit';
import { HEADERS, LIMITS } from '@wts/contracts';
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';
import { FORGED_ADDRESS, HIDDEN_SEGMENTS, OPEN_DOTS, ambiguousRequests, hiddenRequest, mutation } from './requests.ts';
import { RawClient, request, type RawReply } from './raw.ts';
import type { Seen } from './fake-service.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

/** The request as a service received it. */
interface Echo {
  readonly method: string;
  readonly url: string;
  readonly bytes: number;
  readonly headers: Seen['headers'];
}

const bearer = (token: string): string => `Authorization: Bearer ${token}`;
/** The last request of a connection. The gateway answers it by itself. */
const LAST = request('GET /health', ['Connection: close']);
const PATH = '/api/workspaces/by-slug/%D0%B0%20b?x=%2F..%2F&y=[]&y=a+b';

for (const way of ['nothing', 'nginx', 'haproxy'] as const) {
  describe(`the gateway behind ${way}${way === 'nothing' ? '' : ' (skipped where there is none)'}`, () => {
    let testGateway: TestGateway;
    let proxy: Proxy | undefined;
    let port: number;
    let sender: ReturnType<TestGateway['newKey']>;
    let hider: ReturnType<TestGateway['newKey']>;
    let victim: ReturnType<TestGateway['newKey']>;
    before(async function start() {
      testGateway = await startTestGateway({ TRUSTED_PROXIES: '127.0.0.1' });
      port = testGateway.api;
      [sender, hider, victim] = [
        testGateway.newKey(['read', 'write']),
        testGateway.newKey(['read']),
        testGateway.newKey(['read']),
      ];
      if (way === 'nothing') return;
      proxy = await openProxy(this, way, { to: testGateway.api });
      port = proxy.port;
    });
    after(async () => {
      await proxy?.[Symbol.asyncDispose]();
      await testGateway.close();
    });
    beforeEach(() => {
      for (const service of [testGateway.sync, testGateway.workspace]) service.reset();
    });

    /** Requests that services received, in order. Requests whose body never ended are only in the count. */
    const seen = (): readonly Seen[] => [...testGateway.workspace.seen, ...testGateway.sync.seen];
    const started = (): number => testGateway.workspace.started + testGateway.sync.started;

    /** A request of another person, over a connection to the gateway that the request before may have poisoned. */
    async function serveVictim(): Promise<void> {
      const [before, url] = [started(), '/sync/deltas?victim=1'];
      const [reply, ...more] = await exchangeAll(port, request(`GET ${url}`, [bearer(victim.token)]));
      assert.deepEqual([reply && echoOf(reply)?.url, more.length], [url, 1]);
      assert.deepEqual(testGateway.sync.last.principal, victim.principal);
      assert.equal(started(), before + 1);
    }

    for (const what of Object.keys(ambiguousRequests({ credential: '', hidden: '' }))) {
      it(`forwards only what was sent, for its sender: ${what}`, async () => {
        const hidden = hiddenRequest(bearer(hider.token));
        const bytes = ambiguousRequests({ credential: bearer(sender.token), hidden })[what] ?? '';
        const logged = testGateway.logs().length;
        const answers = await exchangeAll(port, bytes);
        const echoes = answers.map(echoOf).filter((echo) => echo !== null);
        await serveVictim();
        const saw = seen().slice(0, -1);
        const [own, next, ...more] = saw;

        // Each request that a service received was answered, to its sender, and no other was.
        assert.deepEqual(
          echoes.map(({ method, url, bytes: length }) => [method, url, length]),
          saw.map(({ method, url, body }) => [method, url, body.length]),
        );
        assert.equal(started(), saw.length + 1);
        if (own !== undefined) {
          assert.equal(`${own.method} ${own.url}`, lineOf(bytes));
          assert.deepEqual(own.principal, sender.principal);
          assert.match(own.body.toString(), /^(\{\})?$/);
        }
        // A proxy may read it as a separate request, as after a bare line feed: then it is what the proxy sent.
        if (next !== undefined) {
          assert.equal(next.url, '/sync/deltas?hidden=1');
          assert.deepEqual(next.principal, hider.principal);
        }
        assert.deepEqual(more, []);
        assert.ok(
          !testGateway.logs().slice(logged).includes(FORGED_ADDRESS),
          'a request reached the gateway without the proxy',
        );
        if (way !== 'nothing') return;
        assert.deepEqual([answers[0]?.status, own], [400, undefined]);
        assert.ok(answers.slice(1).every(({ body }) => body === '{"ok":true,"status":"up"}'));
      });
    }

    it('forwards no path that hides a separator or dots, and no request for an unknown path', async () => {
      const paths = [...HIDDEN_SEGMENTS.map((segment) => `/api/workspaces/by-slug/${segment}`), ...OPEN_DOTS];
      for (const path of paths) {
        const [reply] = await exchangeAll(port, request(`GET ${path}`, [bearer(sender.token)]));
        assert.ok(reply !== undefined && [400, 404].includes(reply.status), path);
      }
      assert.equal(started(), 0);
    });

    if (way === 'nothing') return;

    it('returns the statuses, bodies and headers that it returns without the proxy', async () => {
      for (const [what, bytes] of Object.entries(plainRequests(bearer(sender.token)))) {
        const isHead = bytes.startsWith('HEAD');
        const [direct, through] = [
          await exchangeAll(testGateway.api, bytes, isHead),
          await exchangeAll(port, bytes, isHead),
        ];
        assert.notEqual(direct.length, 0);
        assert.deepEqual(through.map(lasting), direct.map(lasting), what);
        const [one, other] = [seen().slice(0, seen().length / 2), seen().slice(seen().length / 2)];
        assert.deepEqual(other.map(essence), one.map(essence), what);
        for (const service of [testGateway.sync, testGateway.workspace]) service.reset();
      }
    });

    it('returns the answer of a service, and nothing more', async () => {
      const answerWith = (status: number, headers: Record<string, string>, body: string) => {
        testGateway.sync.answer = (_req, res: ServerResponse) => res.writeHead(status, headers).end(body);
      };
      for (const [status, headers, body] of [
        [201, { 'content-type': 'application/json', location: '/x', etag: '"a"', 'cache-control': 'no-store' }, '{}'],
        [304, { etag: '"a"' }, ''],
        [204, {}, ''],
        [429, { 'content-type': 'application/json', 'retry-after': '7', ratelimit: '"rest";r=0;t=7' }, '{}'],
        [503, { 'content-type': 'application/json', 'retry-after': '1' }, '{}'],
      ] as const) {
        answerWith(status, headers, body);
        const bytes = request('GET /sync/deltas', [bearer(sender.token), 'X-Request-Id: mine']);
        const [direct, through] = [await exchangeAll(testGateway.api, bytes), await exchangeAll(port, bytes)];
        assert.deepEqual([through[0]?.status, through.length], [status, 2]);
        assert.deepEqual(through.map(lasting), direct.map(lasting));
      }
    });

    it('ignores the address in headers of the client', async () => {
      const lines = [bearer(sender.token), `X-Forwarded-For: ${FORGED_ADDRESS}`, 'X-Request-Id: whose-address'];
      await exchangeAll(port, request('GET /sync/deltas', lines));
      const logged = testGateway.logs().match(/.*"whose-address".*/)?.[0] ?? '';
      assert.equal((JSON.parse(logged) as { client: string }).client, '127.0.0.1');
    });

    it('writes no query to its log, neither the token of a socket nor a code [never.secret-in-clear]', async () => {
      const secrets = ['secret-of-a-socket', 'secret-of-a-page'];
      await exchangeAll(port, request(`GET /sync/ws?token=${secrets[0]}`, ['Connection: close']));
      await exchangeAll(port, `GET /sync/ws?token=${secrets[0]} HTTP/9.9\r\n\r\n`);
      await exchangeAll(port, request(`GET /join?code=${secrets[1]}`, ['Connection: close']));
      if (proxy === undefined) return;
      await eventually(() => proxy?.logs().includes('/join') === true);
      for (const secret of secrets) assert.ok(!proxy.logs().includes(secret), proxy.logs());
    });

    it('opens sockets and forwards frames both ways', async () => {
      const server = new WebSocketServer({ noServer: true });
      testGateway.sync.onUpgrade = (req, socket, head) =>
        server.handleUpgrade(req, socket, head, (ws) => ws.on('message', (data) => ws.send(data)));
      const socket = new WebSocket(`ws://127.0.0.1:${port}/sync/ws?token=${sender.token}`);
      await once(socket, 'open');
      socket.send('x'.repeat(100_000));
      const [frame] = (await once(socket, 'message')) as [Buffer];
      assert.equal(frame.length, 100_000);
      socket.close(1000);
      assert.equal((await once(socket, 'close'))[0], 1000);
    });

    it('streams: the client gets the first part before the service sends the next', async () => {
      let response: ServerResponse | undefined;
      testGateway.sync.answer = (_req, res) => {
        response = res.writeHead(200, { 'content-type': 'application/x-ndjson' });
        res.write('{"first":1}\n');
      };
      const client = await RawClient.open(port);
      client.send(request('GET /sync/deltas', [bearer(sender.token)]));
      await eventually(() => client.rest.includes('{"first":1}'));
      response?.end('{"second":2}\n');
      assert.equal((await client.reply()).body, '{"first":1}\n{"second":2}\n');
      client.destroy();
    });
  });
}

/** Sends bytes and one last request, and reads all answers until the connection ends. */
async function exchangeAll(port: number, bytes: string, isHead = false): Promise<RawReply[]> {
  const client = await RawClient.open(port);
  client.send(bytes + LAST);
  await Promise.race([client.ended(), client.closed()]);
  const answers: RawReply[] = [];
  // Anything else is an answer of HTTP/0.9, which has no head.
  while (client.rest.toString('latin1').startsWith('HTTP/1.')) {
    const answer = await client.reply(isHead && answers.length === 0);
    if (answer.status >= 200) answers.push(answer);
  }
  client.destroy();
  return answers;
}

function echoOf({ status, headers, body }: RawReply): Echo | null {
  if (status !== 200 || headers['content-type']?.[0] !== 'application/json' || body === '') return null;
  const echo = JSON.parse(body) as Partial<Echo>;
  return echo.headers === undefined ? null : { ...(echo as Echo), headers: withoutToken(echo.headers) };
}

/** Method and path of a request, also when a host stands before the path. */
function lineOf(bytes: string): string {
  const [method, address] = bytes.split(' ', 2);
  return `${method} ${address?.replace(/^http:\/\/[^/]*/, '')}`;
}

/** Unambiguous requests, each with one answer behind any proxy. */
function plainRequests(credential: string): Readonly<Record<string, string>> {
  const lines = [credential, 'X-Request-Id: mine'];
  const deltas = request('GET /sync/deltas', lines);
  return {
    'a read': deltas,
    'two reads in one go': deltas + request('GET /sync/deltas?second=1', lines),
    'a read with a body': request('GET /sync/deltas', [...lines, 'Content-Length: 2'], '{}') + deltas,
    'the head of a read': request('HEAD /sync/deltas', lines),
    'a path in percent-encoding': request(`GET ${PATH}`, lines),
    'a change': mutation(credential, ['X-Request-Id: mine', 'Content-Length: 2'], '{}') + deltas,
    'a change in chunks': mutation(
      credential,
      ['X-Request-Id: mine', 'Transfer-Encoding: chunked'],
      '1;ext="a"\r\n{\r\n1\r\n}\r\n0\r\n\r\n',
    ),
    'a change that is held back': mutation(
      credential,
      ['X-Request-Id: mine', 'Content-Length: 2', 'Expect: 100-continue'],
      '{}',
    ),
    'a change with an offer of another protocol': mutation(
      credential,
      ['X-Request-Id: mine', 'Content-Length: 2', 'Connection: upgrade, close', 'Upgrade: h2c'],
      '{}',
    ),
    'a credential for this hop only': request('GET /sync/deltas', [...lines, 'Connection: authorization']),
    'made-up identities': request('GET /sync/deltas', [...lines, `${HEADERS.principal}: x`, 'X-User-Id: x']),
    'no credential': request('GET /sync/deltas', ['X-Request-Id: mine']),
    'two credentials in one': request('GET /sync/deltas', ['X-Request-Id: mine', `${credential} ${credential}`]),
    'a scope too few': request('DELETE /api/auth/keys/x', lines),
    'a method that is not served': request('PATCH /sync/deltas', lines),
    'a path that is not served': request('GET /nowhere', lines),
    'a version that is not served': request('GET /sync/deltas', [...lines, 'Api-Version: 2']),
    'too long an address': request(`GET /sync/deltas?${'a'.repeat(LIMITS.urlBytes)}`, lines),
    'a page': request('GET /docs', lines),
  };
}

const PASSING = /^(connection|keep-alive|transfer-encoding|server|date|x-request-id|(x-)?ratelimit.*)$/;

/** An answer without headers of one hop and without times. */
function lasting(reply: RawReply): object {
  const headers = Object.entries(reply.headers).filter(([name]) => !PASSING.test(name));
  return { status: reply.status, headers: Object.fromEntries(headers), body: echoOf(reply) ?? reply.body };
}

/** A request as a service received it, without the token, which changes. */
function essence({ method, url, headers, body, principal }: Seen): object {
  return { method, url, headers: withoutToken(headers), body: body.toString(), principal };
}

function withoutToken(headers: Seen['headers']): Seen['headers'] {
  return { ...headers, [HEADERS.principal]: undefined };
}

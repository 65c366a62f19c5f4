import assert from 'node:assert/strict';
import { allowedOrigins } from '../src/config.ts';
import { errorOf, request, exchange } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

const APP = 'https://app.example.com';
const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const FOREIGN = [
  'https://evil.example.com',
  'null',
  'https://app.example.com.evil.test',
  'http://app.example.com',
  'https://app.example.com:8443',
  'HTTPS://APP.EXAMPLE.COM',
  '*',
];

describe('web pages of other origins', () => {
  let testGateway: TestGateway;
  let credential: string;
  before(async () => {
    testGateway = await startTestGateway({ CORS_ORIGINS: `${APP}, http://localhost:3000` });
    credential = `Authorization: Bearer ${testGateway.fullKey}`;
  });
  after(() => testGateway.close());

  const preflight = (origin: string, path = '/sync/mutate'): string =>
    request(`OPTIONS ${path}`, [`Origin: ${origin}`, 'Access-Control-Request-Method: POST']);

  it('may read answers and errors of the sync routes when they are configured, without cookies [sync.cors]', async () => {
    for (const lines of [[credential], []]) {
      const { headers } = await exchange(testGateway.api, request('GET /sync/deltas', [`Origin: ${APP}`, ...lines]));
      assert.deepEqual(headers['access-control-allow-origin'], [APP]);
      assert.match(headers['access-control-expose-headers']?.[0] ?? '', /X-Request-Id/);
      assert.equal(headers['access-control-allow-credentials'], undefined);
    }
  });

  it('get no permission when they are not configured, also when they look similar [sync.cors]', async () => {
    for (const origin of FOREIGN) {
      const { status, headers } = await exchange(
        testGateway.api,
        request('GET /sync/deltas', [`Origin: ${origin}`, credential]),
      );
      assert.equal(status, 200);
      assert.equal(headers['access-control-allow-origin'], undefined, origin);
      const refused = await exchange(testGateway.api, preflight(origin));
      assert.match(errorOf(refused, 403, 'forbidden').message ?? '', /CORS_ORIGINS/);
      assert.equal(refused.headers['access-control-allow-origin'], undefined, origin);
    }
    const two = await exchange(
      testGateway.api,
      request('GET /sync/deltas', [`Origin: ${APP}`, `Origin: ${APP}`, credential]),
    );
    assert.equal(two.headers['access-control-allow-origin'], undefined);
  });

  it('are separated in caches, also for a request without an origin, and where the service separates answers too', async () => {
    testGateway.sync.answer = (_req, res) => void res.writeHead(200, { vary: 'accept-encoding' }).end();
    for (const lines of [[`Origin: ${APP}`], ['Origin: null'], []]) {
      const { headers } = await exchange(testGateway.api, request('GET /sync/deltas', [credential, ...lines]));
      assert.deepEqual(headers.vary, ['Origin', 'accept-encoding']);
    }
    testGateway.sync.reset();
  });

  it('get the allowed methods and headers by a preflight without a credential', async () => {
    const reply = await exchange(testGateway.api, preflight(APP));
    assert.equal(reply.status, 204);
    assert.deepEqual(reply.headers['access-control-allow-origin'], [APP]);
    assert.match(reply.headers['access-control-allow-methods']?.[0] ?? '', /\bPOST\b/);
    assert.match(reply.headers['access-control-allow-headers']?.[0] ?? '', /Authorization, Content-Type, Api-Version/);
    assert.deepEqual(reply.headers['api-version'], ['1']);
    assert.equal(testGateway.sync.started, testGateway.sync.seen.length);
  });

  it('may call every route and read every error, also of malformed requests [meta.cors]', async () => {
    for (const [line, status] of [
      ['GET /api/workspaces', 200],
      ['GET /health', 200],
      ['GET /nowhere', 404],
      ['PATCH /api/workspaces', 405],
      ['GET /api/workspaces/by-slug/%zz', 400],
    ] as const) {
      const reply = await exchange(testGateway.api, request(line, [`Origin: ${APP}`, credential]));
      assert.equal(reply.status, status);
      assert.deepEqual(reply.headers['access-control-allow-origin'], [APP], line);
      const foreign = await exchange(testGateway.api, request(line, ['Origin: https://evil.example.com', credential]));
      assert.equal(foreign.headers['access-control-allow-origin'], undefined, line);
    }
    const version = await exchange(
      testGateway.api,
      request('GET /api/workspaces', [`Origin: ${APP}`, 'Api-Version: 9']),
    );
    errorOf(version, 400, 'unsupported_api_version');
    assert.deepEqual(version.headers['access-control-allow-origin'], [APP]);
    assert.equal((await exchange(testGateway.api, preflight(APP, '/api/workspaces'))).status, 204);
    errorOf(await exchange(testGateway.api, preflight(APP, '/nowhere')), 404, 'not_found');
    const { headers } = await exchange(testGateway.api, request('GET /api/workspaces', [`Origin: ${APP}`, credential]));
    const readable = headers['access-control-expose-headers']?.[0]?.split(', ') ?? [];
    for (const name of Object.keys(headers).filter((one) =>
      /^(api-version|x-request-id|ratelimit|x-ratelimit)/.test(one),
    )) {
      assert.ok(
        readable.some((one) => one.toLowerCase() === name),
        name,
      );
    }
    for (const name of ['ETag', 'Retry-After', 'WWW-Authenticate']) assert.ok(readable.includes(name), name);
  });

  it('may not open a socket when they are not configured, also with a valid token [sync.cors]', async () => {
    for (const origin of FOREIGN) {
      const lines = [...HANDSHAKE, `Origin: ${origin}`];
      errorOf(
        await exchange(testGateway.api, request(`GET /sync/ws?token=${testGateway.fullKey}`, lines)),
        403,
        'forbidden',
      );
    }
  });

  it('may open a socket when they are configured', async () => {
    const lines = [...HANDSHAKE, `Origin: ${APP}`];
    errorOf(await exchange(testGateway.api, request('GET /sync/ws?token=wts_wrong', lines)), 401, 'api_key_invalid');
  });
});

describe('without configured origins', () => {
  let testGateway: TestGateway;
  before(async () => (testGateway = await startTestGateway()));
  after(() => testGateway.close());

  it('no page of another origin gets a permission', async () => {
    const lines = [`Origin: ${APP}`, `Authorization: Bearer ${testGateway.fullKey}`];
    const { headers } = await exchange(testGateway.api, request('GET /sync/deltas', lines));
    assert.equal(headers['access-control-allow-origin'], undefined);
    assert.equal(headers.vary, undefined);
  });

  it('only pages of this API and programs without an origin may open a socket [sync.cors]', async () => {
    for (const origin of [APP, 'null', 'http://localhost:4001', '', 'http://localhost:4000.evil.test']) {
      const lines = [...HANDSHAKE, `Origin: ${origin}`];
      errorOf(
        await exchange(testGateway.api, request(`GET /sync/ws?token=${testGateway.fullKey}`, lines)),
        403,
        'forbidden',
      );
    }
    for (const lines of [[], ['Origin: http://localhost:4000']]) {
      const reply = await exchange(testGateway.api, request('GET /sync/ws?token=wts_wrong', [...HANDSHAKE, ...lines]));
      errorOf(reply, 401, 'api_key_invalid');
    }
  });

  it('a page of the called host may open a socket, by any name of the host [sync.cors]', async () => {
    const open = async (origin: string, host: string): Promise<number> => {
      const lines = [
        'GET /sync/ws?token=wts_wrong HTTP/1.1',
        `Host: ${host}`,
        ...HANDSHAKE,
        `Origin: ${origin}`,
        '',
        '',
      ];
      return (await exchange(testGateway.api, lines.join('\r\n'))).status;
    };
    for (const scheme of ['http', 'https'])
      assert.equal(await open(`${scheme}://127.0.0.1:4000`, '127.0.0.1:4000'), 401);
    assert.equal(await open('http://127.0.0.1:4001', '127.0.0.1:4000'), 403);
    assert.equal(await open('http://a@127.0.0.1:4000', '127.0.0.1:4000'), 403);
  });

  it('pages of any origin may read the description and its page [meta.cors]', async () => {
    for (const path of ['/openapi.json', '/docs']) {
      const { status, headers } = await exchange(testGateway.api, request(`GET ${path}`, ['Origin: null']));
      assert.equal(status, 200);
      assert.deepEqual(headers['access-control-allow-origin'], ['*']);
      const lines = ['Origin: https://tools.example.com', 'Access-Control-Request-Method: GET'];
      assert.equal((await exchange(testGateway.api, request(`OPTIONS ${path}`, lines))).status, 204);
    }
  });
});

describe('web pages of this machine', () => {
  const allowed = allowedOrigins(['http://localhost:*', 'http://[::1]:*', APP]);

  it('are allowed on every port by http://localhost:* [sync.cors]', () => {
    for (const origin of [
      'http://localhost',
      'http://localhost:5173',
      'http://localhost:80',
      'http://[::1]:3000',
      APP,
    ]) {
      assert.ok(allowed.has(origin), origin);
    }
  });

  it('do not open that setting to other hosts, schemes or texts that look similar [sync.cors]', () => {
    for (const origin of [
      'https://localhost:5173',
      'http://localhost.evil.test:5173',
      'http://evil.test:5173',
      'http://evil@localhost:5173',
      'http://localhost:5173/',
      'http://localhost:*',
      'http://localhost:5173:*',
      'http://127.0.0.1:5173',
      `${APP}:8443`,
      'null',
    ]) {
      assert.ok(!allowed.has(origin), origin);
    }
  });
});

describe('the setting CORS_ORIGINS', () => {
  for (const wrong of [
    '*',
    'null',
    'app.example.com',
    'https://app.example.com/',
    'https://app.example.com/x',
    'ftp://a',
    'https://app.example.com:*',
    'http://localhost:3000:*',
    'http://*:*',
  ]) {
    it(`stops the start with the value ${wrong}`, () =>
      assert.rejects(startTestGateway({ CORS_ORIGINS: wrong }), /CORS_ORIGINS.*origin/s));
  }
});

import assert from 'node:assert/strict';
import { RawClient, errorOf, request, exchange, type RawReply } from './raw.ts';
import { startTestGateway, type TestGateway } from './test-gateway.ts';

describe('every answer of the gateway', () => {
  let testGateway: TestGateway;
  before(async () => {
    testGateway = await startTestGateway({ BASE_URL: 'http://localhost:4000', AUTH_URL: 'https://auth.example.com' });
  });
  after(() => testGateway.close());

  it('has Api-Version, a request id and nosniff, and no header about the software [versioning.response.always]', async () => {
    for (const line of ['GET /health', 'GET /nowhere', 'POST /health', 'OPTIONS /health', 'GET /api/workspaces']) {
      const reply = await exchange(testGateway.api, request(line));
      assert.deepEqual(reply.headers['api-version'], ['1'], line);
      assert.equal(reply.headers['x-request-id']?.length, 1, line);
      assert.deepEqual(reply.headers['x-content-type-options'], ['nosniff'], line);
      assert.equal(reply.headers['x-powered-by'], undefined);
      assert.equal(reply.headers.server, undefined);
    }
  });

  it('has HSTS only on an https origin', async () => {
    assert.equal(
      (await exchange(testGateway.api, request('GET /health'))).headers['strict-transport-security'],
      undefined,
    );
    assert.match(
      (await exchange(testGateway.auth, request('GET /health'))).headers['strict-transport-security']?.[0] ?? '',
      /max-age=/,
    );
  });

  it('has the request id of the client when it is well formed, and a new one otherwise [errors.request-id.returned]', async () => {
    const kept = await exchange(testGateway.api, request('GET /health', ['X-Request-Id: a.B_c-9']));
    assert.deepEqual(kept.headers['x-request-id'], ['a.B_c-9']);
    for (const bad of [
      ['X-Request-Id: with blank'],
      ['X-Request-Id: <script>'],
      [`X-Request-Id: ${'a'.repeat(129)}`],
      ['X-Request-Id:'],
      ['X-Request-Id: one', 'X-Request-Id: two'],
    ]) {
      const reply = await exchange(testGateway.api, request('GET /health', bad));
      assert.match(reply.headers['x-request-id']?.[0] ?? '', /^[0-9a-f-]{36}$/, bad.join());
    }
  });

  it('is JSON with 404 for unknown paths on both origins, also for similar ones [errors.404.unknown-route, errors.shape.everywhere, errors.shape.fields]', async () => {
    for (const path of [
      '/nowhere',
      '/',
      '/HEALTH',
      '/health/',
      '//health',
      '/./health',
      '/x/../health',
      '/api/workspaces/',
    ]) {
      errorOf(await exchange(testGateway.api, request(`GET ${path}`)), 404, 'not_found');
    }
    errorOf(await exchange(testGateway.auth, request('GET /api/workspaces')), 404, 'not_found');
    errorOf(await exchange(testGateway.api, request('GET /internal/api-keys/resolve')), 404, 'not_found');
  });

  it('is 405 with Allow for a method that a path does not have, also for TRACE and CONNECT [errors.405.allow]', async () => {
    for (const method of ['PUT', 'TRACE', 'PROPFIND', 'DELETE', 'QUERY', 'LINK']) {
      const reply = await exchange(testGateway.api, request(`${method} /api/workspaces`));
      errorOf(reply, 405, 'method_not_allowed');
      assert.deepEqual(reply.headers.allow, ['GET, HEAD, POST, OPTIONS'], method);
    }
    errorOf(
      await exchange(testGateway.api, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'),
      405,
      'method_not_allowed',
    );
  });

  it('does not upgrade a request in HTTP/1.0, which has no upgrades', async () => {
    const offer = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const ask = (path: string): Promise<RawReply> =>
      exchange(testGateway.api, request(`GET ${path}`, offer).replace('HTTP/1.1', 'HTTP/1.0'));
    errorOf(await ask('/sync/ws?token=wts_any'), 426, 'upgrade_required');
    assert.equal((await ask('/health')).status, 200);
  });

  it('uses only the method of the request line', async () => {
    const lines = ['X-HTTP-Method-Override: GET', 'X-Method-Override: GET', 'X-HTTP-Method: GET'];
    errorOf(
      await exchange(testGateway.api, request('DELETE /api/workspaces?_method=GET', lines)),
      405,
      'method_not_allowed',
    );
  });

  it('lists the methods for OPTIONS, and has the headers of GET for HEAD', async () => {
    const options = await exchange(testGateway.api, request('OPTIONS /api/workspaces'));
    assert.equal(options.status, 204);
    assert.deepEqual(options.headers.allow, ['GET, HEAD, POST, OPTIONS']);
    const client = await RawClient.open(testGateway.api);
    const head = await client.send(request('HEAD /health')).reply(true);
    assert.equal(head.status, 200);
    assert.deepEqual(head.headers['content-length'], ['25']);
    assert.equal((await client.send(request('GET /health')).reply()).body, '{"ok":true,"status":"up"}');
    client.destroy();
  });
});

describe('the API version', () => {
  let testGateway: TestGateway;
  before(async () => (testGateway = await startTestGateway()));
  after(() => testGateway.close());

  it('is the current one without the header or with 1, also with spaces around it [versioning.header.optional]', async () => {
    for (const lines of [[], ['Api-Version: 1'], ['api-version:   1  ']])
      assert.equal((await exchange(testGateway.api, request('GET /health', lines))).status, 200, lines.join());
  });

  it('is refused with 400 for any other value, before credentials, paths and methods are checked [versioning.header.before-credentials, versioning.header.unknown]', async () => {
    for (const value of ['', '2', '1.0', '01', 'v1', '1, 1', '1,1', '"1"', '1;', '٣', '0', '-1', 'latest']) {
      for (const line of ['GET /health', 'GET /nowhere', 'POST /sync/mutate', 'PUT /health']) {
        const reply = await exchange(testGateway.api, request(line, [`Api-Version: ${value}`]));
        errorOf(reply, 400, 'unsupported_api_version');
      }
    }
    const twice = await exchange(testGateway.api, request('GET /health', ['Api-Version: 1', 'Api-Version: 1']));
    errorOf(twice, 400, 'unsupported_api_version');
  });
});

describe('the gateway itself', () => {
  let testGateway: TestGateway;
  before(async () => (testGateway = await startTestGateway()));
  after(() => testGateway.close());
  afterEach(() => {
    testGateway.workspace.reset();
    testGateway.sync.reset();
  });

  it('serves /health on both origins without calling a service [meta.health.no-wait, meta.health.up]', async () => {
    testGateway.workspace.isReady = false;
    for (const port of [testGateway.api, testGateway.auth])
      assert.equal((await exchange(port, request('GET /health'))).body, '{"ok":true,"status":"up"}');
  });

  it('serves its description without a credential, with the address that clients use [meta.openapi.answer]', async () => {
    const reply = await exchange(testGateway.api, request('GET /openapi.json', ['Authorization: Basic nonsense']));
    const description = JSON.parse(reply.body) as { openapi: string; paths: object; servers: unknown };
    assert.equal(reply.status, 200);
    assert.match(description.openapi, /^3\.1\./);
    assert.deepEqual(description.servers, [{ url: 'http://localhost:4000' }]);
    assert.ok('/sync/mutate' in description.paths);
  });

  it('ignores a broken credential on public paths, and never forwards them', async () => {
    for (const path of ['/health', '/ready', '/openapi.json', '/docs']) {
      const lines = ['Authorization: Bearer wts_wrong', 'Authorization: again'];
      assert.equal((await exchange(testGateway.api, request(`GET ${path}`, lines))).status, 200, path);
    }
    assert.equal(testGateway.workspace.started, 0);
    assert.equal(testGateway.authService.lookUps, 0);
  });
});

describe('a request target', () => {
  let testGateway: TestGateway;
  let credential: string;
  before(async () => {
    testGateway = await startTestGateway();
    credential = `Authorization: Bearer ${testGateway.fullKey}`;
  });
  after(() => testGateway.close());

  it('may be a whole URL of the host in the Host header, of which only the path is forwarded [meta.target]', async () => {
    for (const [target, path] of [
      ['http://api.test/sync/deltas?after=1', '/sync/deltas?after=1'],
      ['HTTP://API.TEST:80/sync/deltas', '/sync/deltas'],
      ['https://api.test:443/sync/deltas', '/sync/deltas'],
    ] as const) {
      assert.equal((await exchange(testGateway.api, request(`GET ${target}`, [credential]))).status, 200, target);
      assert.equal(testGateway.sync.last.url, path);
      assert.doesNotMatch(testGateway.sync.last.headers.host ?? '', /api\.test/);
    }
    errorOf(await exchange(testGateway.api, request('GET http://api.test')), 404, 'not_found');
    errorOf(
      await exchange(testGateway.api, request('GET ftp://api.test/sync/deltas', [credential])),
      400,
      'malformed_request',
    );
    errorOf(
      await exchange(testGateway.api, request('GET http://api.test//sync/deltas', [credential])),
      404,
      'not_found',
    );
    errorOf(await exchange(testGateway.api, request('GET http://api.test/%2e%2e/internal/commit', [credential])), 400);
  });

  it('that is an asterisk gets the methods of the server by OPTIONS [meta.target]', async () => {
    const { status, headers, body } = await exchange(testGateway.api, request('OPTIONS *'));
    assert.deepEqual([status, body], [204, '']);
    assert.deepEqual(headers.allow, ['GET, HEAD, POST, PATCH, DELETE, OPTIONS']);
    assert.deepEqual(headers['api-version'], ['1']);
    assert.ok(headers['x-request-id']);
  });

  it('of the root redirects a browser to the page and gives 404 to a program [meta.docs.found]', async () => {
    const browser = 'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const root = await exchange(testGateway.api, request('GET /', [browser]));
    assert.deepEqual([root.status, root.headers.location], [302, ['./docs']]);
    assert.deepEqual(root.headers['api-version'], ['1']);
    for (const lines of [[], ['Accept: */*'], ['Accept: application/json']])
      errorOf(await exchange(testGateway.api, request('GET /', lines)), 404, 'not_found');
    const slash = await exchange(testGateway.api, request('GET /docs/'));
    assert.deepEqual([slash.status, slash.headers.location], [308, ['../docs']]);
  });
});

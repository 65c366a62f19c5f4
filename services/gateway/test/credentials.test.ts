import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import { generateApiKey } from '@wts/access';
import { RawClient, errorOf, request, exchange, type RawReply } from './raw.ts';
import { BASE_URL, startTestGateway, type TestGateway } from './test-gateway.ts';

/** Where clients find the authorization server of the API. */
const METADATA = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource"`;

describe('credentials', () => {
  let testGateway: TestGateway;
  const call = (...lines: string[]): Promise<RawReply> =>
    exchange(testGateway.api, request('GET /api/workspaces', lines));
  before(async () => (testGateway = await startTestGateway()));
  after(() => testGateway.close());
  beforeEach(() => testGateway.workspace.reset());

  it('that are bad get the exact texts of the specification, and nothing reaches a service [authentication.bearer.every-call, errors.401.bad-format, errors.401.bad-jwt, errors.401.bad-key, errors.401.no-header]', async () => {
    const wrongKey = generateApiKey('wts_').token;
    for (const [lines, error] of [
      [[], 'Authorization header required'],
      [['Authorization:'], 'Authorization header required'],
      [['Authorization: Basic dXNlcjpwYXNz'], 'Invalid authorization format'],
      [['Authorization: Bearer'], 'Invalid authorization format'],
      [['Authorization: Bearer a b'], 'Invalid authorization format'],
      [['Authorization: Bearer tokén'], 'Invalid authorization format'],
      [
        [`Authorization: Bearer ${testGateway.fullKey}`, `Authorization: Bearer ${testGateway.fullKey}`],
        'Invalid authorization format',
      ],
      [[`Authorization: Bearer ${wrongKey}`], 'Invalid API key'],
      [['Authorization: Bearer wts_short'], 'Invalid API key'],
      [['Authorization: Bearer not.a.jwt'], 'Invalid token'],
      [[`Authorization: Bearer ${'a'.repeat(10_000)}`], 'Invalid token'],
      [[`Authorization: Bearer ${testGateway.jwt({ exp: 1 })}`], 'Invalid token'],
      [[`Authorization: Bearer ${testGateway.jwt({ aud: 'another-audience' })}`], 'Invalid token'],
      [[`Authorization: Bearer ${testGateway.jwt({ iss: 'https://id.example.com/' })}`], 'Invalid token'],
    ] as const) {
      const reply = await call(...lines);
      assert.equal(errorOf(reply, 401).error, error, lines.join());
      assert.match(reply.headers['www-authenticate']?.[0] ?? '', /^Bearer realm="api"/);
    }
    assert.equal(testGateway.workspace.started, 0);
  });

  it('get a challenge without an error when none was sent, and with one when it was bad [errors.401.www-authenticate]', async () => {
    assert.deepEqual((await call()).headers['www-authenticate'], [`Bearer realm="api", ${METADATA}`]);
    const bad = await call('Authorization: Bearer wts_short');
    assert.deepEqual(bad.headers['www-authenticate'], [`Bearer realm="api", error="invalid_token", ${METADATA}`]);
  });

  it('are accepted as API key and as JWT, with the scheme in any case [authentication.api-key.accepted, authentication.jwt.accepted]', async () => {
    for (const line of [
      `Bearer ${testGateway.fullKey}`,
      `bearer ${testGateway.fullKey}`,
      `BEARER ${testGateway.jwt()}`,
    ]) {
      assert.equal((await call(`Authorization: ${line}`)).status, 200);
    }
  });

  it('are replaced by an internal token of exactly this caller', async () => {
    const { token, principal } = testGateway.newKey(['read']);
    await call(`Authorization: Bearer ${token}`, 'X-Wts-Principal: forged', 'x-wts-principal: forged again');
    assert.deepEqual(testGateway.workspace.last.principal, principal);
    assert.equal(testGateway.workspace.last.headers.authorization, undefined);
    assert.doesNotMatch(JSON.stringify(testGateway.workspace.last.headers), new RegExp(token));

    await call(`Authorization: Bearer ${testGateway.jwt({ sub: 'subject-of-token' })}`);
    assert.equal(testGateway.workspace.last.principal?.userId, 'subject-of-token');
    assert.equal(testGateway.workspace.last.principal?.credential.kind, 'jwt');
  });

  it('in a query string are ignored', async () => {
    const reply = await exchange(
      testGateway.api,
      request(`GET /api/workspaces?token=${testGateway.fullKey}&access_token=${testGateway.fullKey}`),
    );
    assert.equal(errorOf(reply, 401).error, 'Authorization header required');
  });

  it('are checked for their scope before the service is called [authentication.scopes.missing, sync.mutate.scope]', async () => {
    const tooMuch = [
      'Content-Length: 99999999',
      'Content-Type: text/plain',
      `Authorization: Bearer ${testGateway.readKey}`,
    ];
    for (const line of ['POST /api/workspaces', 'POST /sync/mutate', 'DELETE /api/auth/keys/not-even-a-uuid']) {
      const reply = await exchange(testGateway.api, request(line, tooMuch));
      errorOf(reply, 403, 'insufficient_scope');
      const scope = line.includes('mutate') ? 'write' : 'admin';
      assert.deepEqual(reply.headers['www-authenticate'], [
        `Bearer realm="api", error="insufficient_scope", ${METADATA}, scope="${scope}"`,
      ]);
    }
    assert.equal(testGateway.workspace.started, 0);
  });

  it('with the scope write may read and write, but not administer [sync.mutate.scope]', async () => {
    const { token } = testGateway.newKey(['write']);
    const lines = [`Authorization: Bearer ${token}`];
    assert.equal((await exchange(testGateway.api, request('GET /api/workspaces', lines))).status, 200);
    assert.equal(
      (await exchange(testGateway.api, request('POST /sync/mutate', [...lines, 'Content-Length: 2'], '{}'))).status,
      200,
    );
    errorOf(await exchange(testGateway.api, request('POST /api/workspaces', lines)), 403, 'insufficient_scope');
  });

  it('need the scope read to bootstrap and follow [sync.bootstrap.scope, sync.deltas.scope]', async () => {
    const reads = ['GET /sync/bootstrap', 'POST /sync/bootstrap', 'GET /sync/deltas', 'POST /sync/batch'];
    const [none, read] = [testGateway.newKey([]), testGateway.newKey(['read'])];
    testGateway.sync.reset();
    for (const line of reads) {
      const refused = await exchange(testGateway.api, request(line, [`Authorization: Bearer ${none.token}`]));
      errorOf(refused, 403, 'insufficient_scope');
      assert.deepEqual(refused.headers['www-authenticate'], [
        `Bearer realm="api", error="insufficient_scope", ${METADATA}, scope="read"`,
      ]);
    }
    assert.equal(testGateway.sync.started, 0);
    for (const line of reads) {
      assert.equal(
        (await exchange(testGateway.api, request(line, [`Authorization: Bearer ${read.token}`]))).status,
        200,
        line,
      );
    }
  });

  it('are looked up once for parallel requests', async () => {
    const { token } = testGateway.newKey(['read']);
    const before = testGateway.authService.lookUps;
    await Promise.all(Array.from({ length: 20 }, () => call(`Authorization: Bearer ${token}`)));
    assert.equal(testGateway.authService.lookUps - before, 1);
  });

  it('of a client that disconnected during the look-up cause no call', async () => {
    const gate = Promise.withResolvers<void>();
    testGateway.authService.lookUpGate = gate.promise;
    const { lookUps } = testGateway.authService;
    const client = await RawClient.open(testGateway.api);
    client.send(request('GET /api/workspaces', [`Authorization: Bearer ${testGateway.newKey(['read']).token}`]));
    await eventually(() => testGateway.authService.lookUps > lookUps);
    client.socket.resetAndDestroy();
    await eventually(() => testGateway.logs().includes('"aborted":true'));
    gate.resolve();
    assert.equal((await call(`Authorization: Bearer ${testGateway.fullKey}`)).status, 200);
    assert.equal(testGateway.workspace.started, 1);
  });

  it('that cannot be looked up get 503, not 401', async () => {
    const { token } = testGateway.newKey(['read']);
    const { port } = testGateway.authService;
    await testGateway.authService.close();
    const reply = await call(`Authorization: Bearer ${token}`);
    errorOf(reply, 503, 'unavailable');
    assert.match(reply.headers['retry-after']?.[0] ?? '', /^[1-9]/);
    await testGateway.authService.listen(port);
  });
});

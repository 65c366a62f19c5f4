import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Principal } from '@wts/contracts';
import { errorOf, exchange, request, type RawReply } from './raw.ts';
import { AUTH_URL, BASE_URL, startTestGateway, type TestGateway } from './test-gateway.ts';

const SITE = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource"`;
const MCP = `resource_metadata="${AUTH_URL}/.well-known/oauth-protected-resource/mcp"`;
const TOO_MUCH = ['Content-Length: 99999999', 'Content-Type: text/plain'];

describe('an access token at the gateway', () => {
  let testGateway: TestGateway;
  before(async () => (testGateway = await startTestGateway()));
  after(() => testGateway.close());
  beforeEach(() => {
    testGateway.workspace.reset();
    testGateway.sync.reset();
  });

  const call = (token: string | null, line: string, lines: readonly string[] = [], body = ''): Promise<RawReply> =>
    exchange(
      testGateway.api,
      request(line, [...(token === null ? [] : [`Authorization: Bearer ${token}`]), ...lines], body),
    );
  const mcp = (token: string | null): Promise<RawReply> =>
    exchange(
      testGateway.auth,
      request(
        'POST /mcp',
        [...(token === null ? [] : [`Authorization: Bearer ${token}`]), 'Content-Length: 2'],
        '{}',
      ).replace('api.test', new URL(AUTH_URL).host),
    );
  const challengeOf = ({ headers }: RawReply): string | undefined => {
    assert.ok((headers['www-authenticate']?.length ?? 0) <= 1);
    return headers['www-authenticate']?.[0];
  };

  it('is a credential of its person, with exactly its scopes [authentication.oauth.accepted]', async () => {
    const { token, userId, grantId } = testGateway.accessToken(['read', 'write']);
    assert.equal((await call(token, 'GET /api/workspaces')).status, 200);
    const { principal } = testGateway.workspace.last;
    const { expiresAt, ...rest } = principal as Principal;
    assert.deepEqual(rest, { userId, scopes: ['read', 'write'], credential: { kind: 'oauth', id: grantId } });
    assert.ok(expiresAt !== undefined && expiresAt * 1000 > Date.now());
    assert.equal((await call(token, 'POST /sync/mutate', ['Content-Length: 2'], '{}')).status, 200);
    assert.deepEqual(testGateway.sync.last.principal, principal);
  });

  it('is refused before anything is read where it lacks the scope, and always for administration [authentication.scopes.admin-api-keys-only, authentication.scopes.missing]', async () => {
    const [reader, writer] = [
      testGateway.accessToken(['read']).token,
      testGateway.accessToken(['read', 'write']).token,
    ];
    for (const [token, line, scope] of [
      [reader, 'POST /sync/mutate', 'write'],
      ...['POST /api/workspaces', 'GET /api/auth/keys', 'DELETE /api/auth/keys/no-uuid', 'POST /api/webhooks'].flatMap(
        (line) => [[reader, line, 'admin'] as const, [writer, line, 'admin'] as const],
      ),
    ] as const) {
      const reply = await call(token, line, TOO_MUCH);
      errorOf(reply, 403, 'insufficient_scope');
      assert.equal(challengeOf(reply), `Bearer realm="api", error="insufficient_scope", ${SITE}, scope="${scope}"`);
    }
    assert.equal(testGateway.workspace.started + testGateway.sync.started, 0);
  });

  it('that is bad gets the error of a token, on both origins with the address of its metadata [authentication.mcp.challenge]', async () => {
    const bad = [
      testGateway.accessToken(['read'], { exp: 1 }).token,
      testGateway.accessToken(['read'], { gid: randomUUID() }).token,
      testGateway.accessToken(['read'], { aud: ['https://other.example.com'] }).token,
      testGateway.accessToken(['read'], { iss: 'http://localhost:4001/' }).token,
      `${testGateway.accessToken(['read']).token}x`,
    ];
    for (const token of bad) {
      const reply = await call(token, 'GET /api/workspaces');
      assert.equal(errorOf(reply, 401, 'token_invalid').error, 'Invalid token');
      assert.equal(challengeOf(reply), `Bearer realm="api", error="invalid_token", ${SITE}`);
      const refused = await mcp(token);
      errorOf(refused, 401, 'token_invalid');
      assert.equal(challengeOf(refused), `Bearer realm="mcp", error="invalid_token", ${MCP}, scope="read write"`);
    }
    const nothing = await mcp(null);
    errorOf(nothing, 401, 'authorization_required');
    assert.equal(challengeOf(nothing), `Bearer realm="mcp", ${MCP}, scope="read write"`);
    assert.equal(
      challengeOf(await mcp('wts_x')),
      `Bearer realm="mcp", error="invalid_token", ${MCP}, scope="read write"`,
    );
  });

  it('is accepted by the API or by the agent endpoint alone when it names that one alone [authentication.mcp.audience]', async () => {
    const { token } = testGateway.accessToken(['read', 'write'], { aud: [BASE_URL] });
    assert.equal((await call(token, 'GET /api/workspaces')).status, 200);
    errorOf(await mcp(token), 401, 'token_invalid');
    const own = testGateway.accessToken(['read', 'write'], { aud: [`${AUTH_URL}/mcp`] }).token;
    assert.notEqual((await mcp(own)).status, 401);
    errorOf(await call(own, 'GET /api/workspaces'), 401, 'token_invalid');
    // Credentials of other kinds are for all resources.
    for (const other of [testGateway.readKey, testGateway.jwt()]) assert.notEqual((await mcp(other)).status, 401);
  });

  it('is for the agents of one cell: a further one has them at its address, and refuses tokens for those of the first [agent.cells.address, agent.cells.audience]', async () => {
    await using cell = new AsyncDisposableStack();
    const further = await startTestGateway({ SHARD: '1' });
    cell.defer(() => further.close());
    const at = (port: number, line: string, token: string | null = null): Promise<RawReply> => {
      const lines = token === null ? [] : [`Authorization: Bearer ${token}`];
      const { host } = new URL(port === further.api ? BASE_URL : AUTH_URL);
      return exchange(port, request(line, [...lines, 'Content-Length: 2'], '{}').replace('api.test', host));
    };
    for (const aud of [[`${AUTH_URL}/mcp`], [BASE_URL]]) {
      const refused = await at(further.api, 'POST /mcp', further.accessToken(['read'], { aud }).token);
      errorOf(refused, 401, 'token_invalid');
      const document = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource/mcp"`;
      assert.equal(challengeOf(refused), `Bearer realm="mcp", error="invalid_token", ${document}, scope="read write"`);
    }
    const own = { aud: [`${BASE_URL}/mcp`] };
    assert.equal((await at(further.api, 'POST /mcp', further.accessToken(['read'], own).token)).status, 503);
    errorOf(
      await at(further.api, 'GET /api/workspaces', further.accessToken(['read'], own).token),
      401,
      'token_invalid',
    );
    errorOf(await mcp(testGateway.accessToken(['read'], own).token), 401, 'token_invalid');
    errorOf(await at(further.auth, 'POST /mcp', further.accessToken(['read'], own).token), 404, 'not_found');
    for (const [gateway, shard] of [
      [further, '1'],
      [testGateway, undefined],
    ] as const) {
      await exchange(gateway.api, request('GET /.well-known/oauth-protected-resource', ['X-Wts-Shard: 7']));
      assert.equal(gateway.authService.last.headers['x-wts-shard'], shard);
    }
  });

  it('in the query is used by sockets only', async () => {
    const { token } = testGateway.accessToken(['read']);
    errorOf(await call(null, `GET /api/workspaces?token=${token}`), 401, 'authorization_required');
    const handshake = [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ];
    testGateway.sync.onUpgrade = (req, socket) => {
      assert.doesNotMatch(req.url ?? '', /token/);
      socket.end('HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n');
    };
    assert.equal((await call(null, `GET /sync/ws?token=${token}`, handshake)).status, 426);
    const expired = testGateway.accessToken(['read'], { exp: 1 }).token;
    const refused = await call(null, `GET /sync/ws?token=${expired}`, handshake);
    errorOf(refused, 401, 'token_invalid');
    const none = testGateway.accessToken([]).token;
    errorOf(await call(null, `GET /sync/ws?token=${none}`, handshake), 403, 'insufficient_scope');
  });

  it('is written to no log, whether it is good or bad [never.secret-in-clear]', async () => {
    const { token } = testGateway.accessToken(['read']);
    const bad = testGateway.accessToken(['read'], { gid: randomUUID() }).token;
    for (const one of [token, bad]) {
      await call(one, 'GET /api/workspaces');
      assert.ok(!testGateway.logs().includes(one.split('.')[2] as string));
    }
  });
});

import assert from 'node:assert/strict';
import { createApiKey } from '@wts/access';
import { RawClient, errorOf, request, say } from './raw.ts';
import type { RawReply } from './raw.ts';
import { startWorld, until } from './world.ts';
import type { World } from './world.ts';

describe('credentials at the door', () => {
  let world: World;
  const ask = (...lines: string[]): Promise<RawReply> => say(world.api, request('GET /api/workspaces', lines));
  before(async () => {
    world = await startWorld();
  });
  after(() => world.close());
  beforeEach(() => world.workspace.reset());

  it('are refused with the exact texts of the interface, and nothing reaches a service [authentication.bearer.every-call, errors.401.bad-format, errors.401.bad-jwt, errors.401.bad-key, errors.401.no-header]', async () => {
    const wrongKey = createApiKey('wts_').token;
    for (const [lines, error] of [
      [[], 'Authorization header required'],
      [['Authorization:'], 'Authorization header required'],
      [['Authorization: Basic dXNlcjpwYXNz'], 'Invalid authorization format'],
      [['Authorization: Bearer'], 'Invalid authorization format'],
      [['Authorization: Bearer a b'], 'Invalid authorization format'],
      [['Authorization: Bearer tokén'], 'Invalid authorization format'],
      [
        [`Authorization: Bearer ${world.fullKey}`, `Authorization: Bearer ${world.fullKey}`],
        'Invalid authorization format',
      ],
      [[`Authorization: Bearer ${wrongKey}`], 'Invalid API key'],
      [['Authorization: Bearer wts_short'], 'Invalid API key'],
      [['Authorization: Bearer not.a.jwt'], 'Invalid token'],
      [[`Authorization: Bearer ${'a'.repeat(10_000)}`], 'Invalid token'],
      [[`Authorization: Bearer ${world.jwt({ exp: 1 })}`], 'Invalid token'],
      [[`Authorization: Bearer ${world.jwt({ aud: 'somebody-else' })}`], 'Invalid token'],
      [[`Authorization: Bearer ${world.jwt({ iss: 'https://id.example.com/' })}`], 'Invalid token'],
    ] as const) {
      const reply = await ask(...lines);
      assert.equal(errorOf(reply, 401).error, error, lines.join());
      assert.match(reply.headers['www-authenticate']?.[0] ?? '', /^Bearer realm="api"/);
    }
    assert.equal(world.workspace.started, 0);
  });

  it('are challenged without an error when none was sent, with one when it was bad [errors.401.www-authenticate]', async () => {
    assert.deepEqual((await ask()).headers['www-authenticate'], ['Bearer realm="api"']);
    const bad = await ask('Authorization: Bearer wts_short');
    assert.deepEqual(bad.headers['www-authenticate'], ['Bearer realm="api", error="invalid_token"']);
  });

  it('are accepted as API key and as JWT, with the scheme in any case [authentication.api-key.accepted, authentication.jwt.accepted]', async () => {
    for (const line of [`Bearer ${world.fullKey}`, `bearer ${world.fullKey}`, `BEARER ${world.jwt()}`]) {
      assert.equal((await ask(`Authorization: ${line}`)).status, 200);
    }
  });

  it('reach the service as the internal token of exactly this caller, never as themselves', async () => {
    const { token, principal } = world.newKey(['read']);
    await ask(`Authorization: Bearer ${token}`, 'X-Wts-Principal: forged', 'x-wts-principal: forged again');
    assert.deepEqual(world.workspace.last.principal, principal);
    assert.equal(world.workspace.last.headers.authorization, undefined);
    assert.doesNotMatch(JSON.stringify(world.workspace.last.headers), new RegExp(token));

    await ask(`Authorization: Bearer ${world.jwt({ sub: 'someone' })}`);
    assert.equal(world.workspace.last.principal?.userId, 'someone');
    assert.equal(world.workspace.last.principal?.credential.kind, 'jwt');
  });

  it('mean nothing in a query string of a request', async () => {
    const reply = await say(
      world.api,
      request(`GET /api/workspaces?token=${world.fullKey}&access_token=${world.fullKey}`),
    );
    assert.equal(errorOf(reply, 401).error, 'Authorization header required');
  });

  it('are judged by scope before anything about what was asked for [authentication.scopes.missing, sync.mutate.scope]', async () => {
    const tooMuch = ['Content-Length: 99999999', 'Content-Type: text/plain', `Authorization: Bearer ${world.readKey}`];
    for (const line of ['POST /api/workspaces', 'POST /sync/mutate', 'DELETE /api/auth/keys/not-even-a-uuid']) {
      const reply = await say(world.api, request(line, tooMuch));
      errorOf(reply, 403, 'insufficient_scope');
      const scope = line.includes('mutate') ? 'write' : 'admin';
      assert.deepEqual(reply.headers['www-authenticate'], [
        `Bearer realm="api", error="insufficient_scope", scope="${scope}"`,
      ]);
    }
    assert.equal(world.workspace.started, 0);
  });

  it('of scope write may read and write, and not administer [sync.mutate.scope]', async () => {
    const { token } = world.newKey(['write']);
    const lines = [`Authorization: Bearer ${token}`];
    assert.equal((await say(world.api, request('GET /api/workspaces', lines))).status, 200);
    assert.equal(
      (await say(world.api, request('POST /sync/mutate', [...lines, 'Content-Length: 2'], '{}'))).status,
      200,
    );
    errorOf(await say(world.api, request('POST /api/workspaces', lines)), 403, 'insufficient_scope');
  });

  it('without scope read load and follow nothing, and with it they do [sync.bootstrap.scope, sync.deltas.scope]', async () => {
    const reads = ['GET /sync/bootstrap', 'POST /sync/bootstrap', 'GET /sync/deltas', 'POST /sync/batch'];
    const [none, read] = [world.newKey([]), world.newKey(['read'])];
    world.sync.reset();
    for (const line of reads) {
      const refused = await say(world.api, request(line, [`Authorization: Bearer ${none.token}`]));
      errorOf(refused, 403, 'insufficient_scope');
      assert.deepEqual(refused.headers['www-authenticate'], [
        'Bearer realm="api", error="insufficient_scope", scope="read"',
      ]);
    }
    assert.equal(world.sync.started, 0);
    for (const line of reads) {
      assert.equal((await say(world.api, request(line, [`Authorization: Bearer ${read.token}`]))).status, 200, line);
    }
  });

  it('are looked up once for many requests at once', async () => {
    const { token } = world.newKey(['read']);
    const before = world.workspace.lookUps;
    await Promise.all(Array.from({ length: 20 }, () => ask(`Authorization: Bearer ${token}`)));
    assert.equal(world.workspace.lookUps - before, 1);
  });

  it('of a client that left while they were looked up lead nowhere', async () => {
    const gate = Promise.withResolvers<void>();
    world.workspace.lookUpGate = gate.promise;
    const { lookUps } = world.workspace;
    const client = await RawClient.open(world.api);
    client.send(request('GET /api/workspaces', [`Authorization: Bearer ${world.newKey(['read']).token}`]));
    await until('it is looked up', () => world.workspace.lookUps > lookUps);
    client.destroy();
    await until('the gateway saw it leave', () => world.logs().includes('"aborted":true'));
    gate.resolve();
    assert.equal((await ask(`Authorization: Bearer ${world.fullKey}`)).status, 200);
    assert.equal(world.workspace.started, 1);
  });

  it('that cannot be looked up are answered 503, not 401', async () => {
    const { token } = world.newKey(['read']);
    const { port } = world.workspace;
    await world.workspace.close();
    const reply = await ask(`Authorization: Bearer ${token}`);
    errorOf(reply, 503, 'unavailable');
    assert.match(reply.headers['retry-after']?.[0] ?? '', /^[1-9]/);
    await world.workspace.listen(port);
  });
});

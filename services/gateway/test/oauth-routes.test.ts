import assert from 'node:assert/strict';
import { createLogger } from '@wts/service-kit/observe';
import { compileRoutes } from '../src/edge/route-table.ts';
import { AUTH_ROUTES, routesAtPath } from '../src/routes.ts';
import { openUpstream } from '../src/upstream.ts';
import { openBareEdge, type BareEdge } from './bare-edge.ts';
import { FakeService } from './fake-service.ts';
import { errorOf, exchange, request } from './raw.ts';
import { startTestGateway } from './test-gateway.ts';

describe('the routes of the authorization server', () => {
  let service: FakeService;
  let edge: BareEdge;
  before(async () => {
    service = await FakeService.start('auth');
    const log = createLogger({ name: 'test', level: 'silent' });
    const routes = compileRoutes([...AUTH_ROUTES, ...routesAtPath('https://example.com/a/path')]);
    edge = await openBareEdge(routes, openUpstream('auth', [service.url], log));
  });
  beforeEach(() => service.reset());
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await service.close();
  });

  const DOCUMENTS = [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-authorization-server/a/path',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-protected-resource/a/path/mcp',
    '/jwks',
  ];

  it('let pages of any origin read the documents and use the endpoints, without cookies', async () => {
    const origin = 'Origin: https://inspector.example.com';
    for (const [method, path] of [
      ...DOCUMENTS.map((path) => ['GET', path]),
      ['POST', '/token'],
      ['POST', '/register'],
    ]) {
      const wanted = [
        'Access-Control-Request-Headers: mcp-protocol-version',
        `Access-Control-Request-Method: ${method}`,
      ];
      const { status, headers } = await exchange(edge.port, request(`OPTIONS ${path}`, [origin, ...wanted]));
      assert.equal(status, 204);
      assert.deepEqual(headers['access-control-allow-origin'], ['*']);
      assert.equal(headers['access-control-allow-credentials'], undefined);
      assert.match(headers['access-control-allow-headers']?.[0] ?? '', /\bMCP-Protocol-Version\b/);
      const { headers: reply } = await exchange(edge.port, request(`DELETE ${path}`, [origin]));
      assert.match(reply['access-control-expose-headers']?.[0] ?? '', /\bWWW-Authenticate\b/);
    }
    for (const path of DOCUMENTS) {
      const refused = await exchange(edge.port, request(`POST ${path}`));
      errorOf(refused, 405, 'method_not_allowed');
      assert.deepEqual(refused.headers['allow'], ['GET, HEAD, OPTIONS']);
    }
  });

  it('forward the documents of an issuer with a path unchanged, and of no other path', async () => {
    const testGateway = await startTestGateway({ AUTH_URL: 'https://example.com/a/path' });
    try {
      for (const path of DOCUMENTS.slice(0, 4)) {
        await exchange(testGateway.auth, request(`GET ${path}`));
        assert.equal(testGateway.authService.last.url, path);
      }
      for (const path of [
        '/.well-known/oauth-authorization-server/a',
        '/.well-known/oauth-protected-resource/a/path',
      ]) {
        errorOf(await exchange(testGateway.auth, request(`GET ${path}`)), 404, 'not_found');
      }
    } finally {
      await testGateway.close();
    }
    assert.deepEqual(routesAtPath('https://example.com'), []);
  });

  it('forward the Authorization header of a client to the token endpoint, that of an operator without cookies, and no other', async () => {
    const lines = ['Authorization: Basic YTpi', 'Content-Length: 1', 'Content-Type: application/x-www-form-urlencoded'];
    await exchange(edge.port, request('POST /token', lines, 'a'));
    assert.equal(service.last.headers.authorization, 'Basic YTpi');
    await exchange(edge.port, request('POST /register', lines, 'a'));
    assert.equal(service.last.headers.authorization, undefined);
    await exchange(edge.port, request('GET /operator/usage', ['Authorization: Bearer wtsop_x', 'Cookie: a=b']));
    assert.deepEqual([service.last.headers.authorization, service.last.headers.cookie], ['Bearer wtsop_x', undefined]);
  });

  it('do not exist for what is not offered [authentication.not-offered]', async () => {
    for (const path of [
      '/revoke',
      '/introspect',
      '/userinfo',
      '/device_authorization',
      '/.well-known/openid-configuration',
    ]) {
      errorOf(await exchange(edge.port, request(`POST ${path}`)), 404, 'not_found');
    }
  });
});

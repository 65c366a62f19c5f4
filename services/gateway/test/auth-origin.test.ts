import { eventually } from '@wts/testkit';
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { Contract } from '@wts/contracts';
import { createLogger } from '@wts/service-kit/observe';
import { compileRoutes } from '../src/edge/route-table.ts';
import { openUpstream } from '../src/upstream.ts';
import { openBareEdge, type BareEdge } from './bare-edge.ts';
import { FakeService } from './fake-service.ts';
import { errorOf, exchange, RawClient, request } from './raw.ts';

const operation = (id: string, path: string, more: Partial<Contract> = {}): Contract => ({
  id,
  method: 'GET',
  path,
  summary: '',
  tag: 'Meta',
  scope: 'none',
  reply: { status: 200, schema: {} },
  errors: [],
  ...more,
});

const page = operation('page', '/page', { page: true });
const form = operation('form', '/page', { page: true, method: 'POST', bodyBytesMax: 64 });
const open = operation('open', '/open');
const openForm = operation('openForm', '/open', { method: 'POST', bodyBytesMax: 64 });
const agent = operation('agent', '/agent', { method: 'POST', scope: 'read', bodyBytesMax: 64 });
const MCP_HEADERS = ['MCP-Protocol-Version', 'Mcp-Session-Id', 'Last-Event-ID', 'Mcp-Method', 'Mcp-Name'];

describe('the authorization origin', () => {
  let service: FakeService;
  let edge: BareEdge;
  before(async () => {
    service = await FakeService.start('workspace');
    const to = 'workspace';
    const routes = compileRoutes([
      { contract: page, to },
      { contract: form, to },
      { contract: open, to, anyOrigin: true },
      { contract: openForm, to, anyOrigin: true },
      { contract: agent, to, anyOrigin: true },
    ]);
    edge = await openBareEdge(
      routes,
      openUpstream('auth', [service.url], createLogger({ name: 'test', level: 'silent' })),
    );
  });
  beforeEach(() => service.reset());
  after(async () => {
    await edge[Symbol.asyncDispose]();
    await service.close();
  });

  const answerPage: FakeService['answer'] = (_req, res) => {
    res.writeHead(303, {
      'set-cookie': ['a=1; HttpOnly', 'b=2; HttpOnly'],
      location: '/elsewhere',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'wrong',
    });
    res.end();
  };

  it('sends to pages, and to nothing else, where a form comes from', async () => {
    const lines = ['Origin: null', 'Sec-Fetch-Site: cross-site'];
    const from = (): unknown[] => [service.last.headers.origin, service.last.headers['sec-fetch-site']];
    await exchange(edge.port, request('GET /page', lines));
    assert.deepEqual(from(), ['null', 'cross-site']);
    await exchange(edge.port, request('GET /open', lines));
    assert.deepEqual(from(), [undefined, undefined]);
  });

  it('gives the cookies of a browser to pages only, and only pages set cookies', async () => {
    service.answer = answerPage;
    const reply = await exchange(edge.port, request('GET /page', ['Cookie: a=1; b=2', 'cookie: c=3']));
    assert.equal(reply.status, 303);
    assert.equal(service.last.headers.cookie, 'a=1; b=2; c=3');
    await exchange(edge.port, request('GET /page', ['Origin: https://evil.test', 'Sec-Fetch-Site: cross-site']));
    const { origin, 'sec-fetch-site': site } = service.last.headers;
    assert.deepEqual([origin, site], ['https://evil.test', 'cross-site']);
    assert.deepEqual(reply.headers['set-cookie'], ['a=1; HttpOnly', 'b=2; HttpOnly']);
    assert.deepEqual(reply.headers['location'], ['/elsewhere']);
    assert.deepEqual(reply.headers['content-security-policy'], ["default-src 'none'"]);
    assert.deepEqual(reply.headers['referrer-policy'], ['no-referrer']);
    assert.deepEqual(reply.headers['cache-control'], ['no-store']);
    assert.notDeepEqual(reply.headers['x-content-type-options'], ['wrong']);
    const other = await exchange(edge.port, request('GET /open', ['Cookie: a=1']));
    assert.equal(service.last.headers.cookie, undefined);
    assert.equal(other.headers['set-cookie'], undefined);
    assert.deepEqual(other.headers['location'], ['/elsewhere']);
  });

  it('forwards a form as it was sent, up to its limit', async () => {
    const post = (path: string, body: string): string =>
      request(
        `POST ${path}`,
        [`Content-Length: ${body.length}`, 'Content-Type: application/x-www-form-urlencoded'],
        body,
      );
    for (const path of ['/page', '/open']) {
      assert.equal((await exchange(edge.port, post(path, 'a=1&a=%20'))).status, 200);
      assert.equal(service.last.body.toString(), 'a=1&a=%20');
      assert.equal(service.last.headers['content-type'], 'application/x-www-form-urlencoded');
      errorOf(await exchange(edge.port, post(path, 'a'.repeat(65))), 413, 'payload_too_large');
    }
  });

  it('names the network of a caller, and drops the header of a client [authentication.identity.not-forged]', async () => {
    service.answer = (_req, res) => void res.writeHead(200, { 'x-wts-network': 'leaked' }).end();
    const reply = await exchange(edge.port, request('GET /open', ['X-Wts-Network: 203.0.113.7']));
    assert.equal(service.last.headers['x-wts-network'], '127.0.0.1');
    assert.equal(reply.headers['x-wts-network'], undefined);
  });

  it('lets pages of any origin call what needs no cookie, with the headers of MCP, and no other page [meta.cors]', async () => {
    const lines = ['Origin: https://inspector.example.com'];
    const preflight = await exchange(
      edge.port,
      request('OPTIONS /agent', [...lines, 'Access-Control-Request-Method: POST']),
    );
    assert.equal(preflight.status, 204);
    assert.deepEqual(preflight.headers['access-control-allow-origin'], ['*']);
    const allowed = preflight.headers['access-control-allow-headers']?.[0]?.split(', ') ?? [];
    for (const name of [...MCP_HEADERS, 'Authorization', 'Content-Type']) assert.ok(allowed.includes(name), name);
    const reply = await exchange(edge.port, request('GET /open', lines));
    assert.deepEqual(reply.headers['access-control-allow-origin'], ['*']);
    assert.equal(reply.headers['access-control-allow-credentials'], undefined);
    const exposed = reply.headers['access-control-expose-headers']?.[0]?.split(', ') ?? [];
    for (const name of ['WWW-Authenticate', 'Mcp-Session-Id']) assert.ok(exposed.includes(name), name);

    const own = await exchange(edge.port, request('GET /page', lines));
    assert.equal(own.status, 200);
    assert.deepEqual(
      Object.keys(own.headers).filter((name) => name.startsWith('access-control-')),
      [],
    );
    errorOf(
      await exchange(edge.port, request('OPTIONS /page', [...lines, 'Access-Control-Request-Method: POST'])),
      403,
      'forbidden',
    );
  });

  it('refuses a host name that was made to resolve to it, and at a loopback address pages of elsewhere [agent.http.foreign-host, agent.http.foreign-origin]', async () => {
    const call = (host: string, origin: string | null): string =>
      `POST /agent HTTP/1.1\r\nHost: ${host}\r\n${origin === null ? '' : `Origin: ${origin}\r\n`}Content-Length: 0\r\nConnection: close\r\n\r\n`;
    for (const [host, origin] of [
      ['evil.test:4001', 'http://evil.test:4001'],
      ['evil.test:4001', null],
      ['localhost.evil.test', null],
      ['127.0.0.1.evil.test', null],
      ['localhost:4001', 'https://inspector.example.com'],
      ['localhost:4001', 'http://localhost.evil.test'],
      ['localhost:4001', 'null'],
    ] as const) {
      const reply = await exchange(edge.port, call(host, origin));
      assert.equal(reply.status, 403, `${host} ${origin}`);
      errorOf(reply, 403, 'forbidden');
    }
    for (const [host, origin] of [
      ['localhost:4001', 'http://localhost:6274'],
      ['127.0.0.1:4001', 'http://localhost:4001'],
      ['[::1]:4001', null],
      ['localhost', null],
    ] as const) {
      errorOf(await exchange(edge.port, call(host, origin)), 401, 'authorization_required');
    }
  });

  it('answers at a public address for its own host name only, and to pages of any origin [agent.http.foreign-host]', async () => {
    const to = 'workspace';
    const routes = compileRoutes([{ contract: agent, to, anyOrigin: true }]);
    await using open = await openBareEdge(routes, undefined, 'https://auth.example.com');
    const call = (host: string): string =>
      `POST /agent HTTP/1.1\r\nHost: ${host}\r\nOrigin: https://inspector.example.org\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    for (const host of ['localhost', '127.0.0.1', 'example.com', 'auth.example.com.evil.test'])
      errorOf(await exchange(open.port, call(host)), 403, 'forbidden');
    for (const host of ['auth.example.com', 'AUTH.example.com:443'])
      errorOf(await exchange(open.port, call(host)), 401, 'authorization_required');
  });

  it('passes on each event of a stream when it is sent', async () => {
    let stream: ServerResponse | null = null;
    service.answer = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 'one' }).flushHeaders();
      stream = res;
    };
    const client = await RawClient.open(edge.port);
    client.send(request('GET /open', ['Accept: text/event-stream', 'Last-Event-ID: 7', 'Mcp-Session-Id: one']));
    await eventually(() => client.received > 0);
    assert.deepEqual([service.last.headers['last-event-id'], service.last.headers['mcp-session-id']], ['7', 'one']);
    for (const event of ['data: 1\n\n', 'data: 2\n\n']) {
      const { received } = client;
      (stream as ServerResponse | null)?.write(event);
      await eventually(() => client.received > received);
    }
    (stream as ServerResponse | null)?.end();
    const reply = await client.reply();
    assert.equal(reply.body, 'data: 1\n\ndata: 2\n\n');
    assert.deepEqual(reply.headers['mcp-session-id'], ['one']);
    client.destroy();
  });

  it('answers a wrong method and an unknown path in the common shape', async () => {
    const wrong = await exchange(edge.port, request('DELETE /page', []));
    errorOf(wrong, 405, 'method_not_allowed');
    assert.deepEqual(wrong.headers['allow'], ['GET, HEAD, POST, OPTIONS']);
    errorOf(await exchange(edge.port, request('GET /nowhere', [])), 404, 'not_found');
    const client = await RawClient.open(edge.port);
    assert.equal((await client.send(request('HEAD /page', [])).reply(true)).status, 200);
    client.destroy();
  });
});

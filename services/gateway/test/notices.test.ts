import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAuthenticator } from '@wts/access';
import { createLogger } from '@wts/service-kit';
import { addressReader } from '../src/client-address.ts';
import { deprecationHeaders } from '../src/deprecations.ts';
import { createEdge } from '../src/edge/edge.ts';
import { RateLimiter } from '../src/edge/limit-rate.ts';
import { compileRoutes } from '../src/edge/route-table.ts';
import { Tally } from '../src/rates/tally.ts';
import { API_ROUTES } from '../src/routes.ts';
import { Upstream } from '../src/upstream.ts';
import { request, say } from './raw.ts';

describe('an operation that retires', () => {
  let server: Server;
  let upstream: Upstream;
  before(async () => {
    const log = createLogger({ name: 'test', level: 'silent' });
    const row = { deprecatedOn: '2026-11-01', sunsetOn: '2027-03-01', link: 'https://docs.example.com/x' };
    const notices = deprecationHeaders([{ operation: 'listWorkspaces', ...row }], new Set(['listWorkspaces']));
    upstream = new Upstream('none', ['http://127.0.0.1:9'], log);
    const edge = createEdge({
      routes: compileRoutes(API_ROUTES, notices),
      upstreams: { workspace: upstream, sync: upstream },
      ownAnswers: new Map(),
      authenticator: createAuthenticator({
        issuers: [],
        apiKeyPrefix: 'wts_',
        resolveApiKey: async () => null,
        resolvePerson: async () => '',
      }),
      rates: new RateLimiter({
        tally: new Tally(),
        onCounted: () => undefined,
        addressOf: addressReader([]),
        limits: {},
      }),
      tokenSecret: '',
      origins: new Set(),
      securityHeaders: [],
      isDraining: () => false,
      clientStalledMs: 1_000,
      onAnswered: () => undefined,
    });
    server = createServer(edge);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await upstream.close();
  });

  it('says so on every answer, refusals included, and its neighbours on the same address do not [versioning.retiring.headers]', async () => {
    const { port } = server.address() as AddressInfo;
    const retiring = await say(port, request('GET /api/workspaces'));
    assert.equal(retiring.status, 401);
    assert.deepEqual(retiring.headers.deprecation, ['Sun, 01 Nov 2026 00:00:00 GMT']);
    assert.deepEqual(retiring.headers.sunset, ['Mon, 01 Mar 2027 00:00:00 GMT']);
    assert.deepEqual(retiring.headers.link, ['<https://docs.example.com/x>; rel="deprecation"; type="text/html"']);
    const neighbour = await say(port, request('POST /api/workspaces'));
    assert.equal(neighbour.headers.deprecation, undefined);
  });
});

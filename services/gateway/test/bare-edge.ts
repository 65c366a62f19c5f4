import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { accessTokenIssuer, createAuthenticator } from '@wts/access';
import { CallerNetworks } from '@wts/service-kit/fairness';
import { createLogger } from '@wts/service-kit/observe';
import { addressReader } from '../src/client-address.ts';
import { createEdge } from '../src/edge/edge.ts';
import { RateLimiter } from '../src/edge/limit-rate.ts';
import { NetworkConnections } from '../src/edge/network-connections.ts';
import type { compileRoutes } from '../src/edge/route-table.ts';
import { Shares } from '../src/edge/shares.ts';
import { forUpstreams } from '../src/routes.ts';
import { Tally } from '../src/rates/tally.ts';
import { openUpstream } from '../src/upstream.ts';

export interface BareEdge extends AsyncDisposable {
  readonly port: number;
}

/** An edge with a route table of the test, without a service and without valid credentials. */
export async function openBareEdge(
  routes: ReturnType<typeof compileRoutes>,
  upstream = openUpstream('none', ['http://127.0.0.1:9'], createLogger({ name: 'test', level: 'silent' })),
  ownOrigin = 'http://localhost:4001',
  rates = new RateLimiter({ tally: new Tally(), onCounted: () => undefined, limits: {} }),
): Promise<BareEdge> {
  const edge = createEdge({
    routes,
    upstreams: forUpstreams(() => upstream),
    ownAnswers: new Map(),
    authenticator: createAuthenticator({
      issuers: [],
      accessTokens: {
        issuer: accessTokenIssuer({ authUrl: 'http://auth.test', baseUrl: '', fetchKeys: async () => Buffer.alloc(0) }),
        resolveGrant: async () => null,
      },
      apiKeyPrefix: 'wts_',
      resolveApiKey: async () => null,
      resolvePerson: async () => '',
    }),
    rates,
    shares: new Shares({
      requestsMax: 10,
      socketsMax: 10,
      socketsOfAllMax: 10,
      bodyBytesMax: 1024,
      requestsOfNetworkMax: 10,
      bodyBytesOfNetworkMax: 1024,
      bodyBytesOfAllMax: 1024,
    }),
    mintToken: forUpstreams(() => () => ''),
    connections: new NetworkConnections({
      ofNetworkMax: 100,
      refusedOfNetworkMax: 0,
      idleMs: 1_000,
      networkOf: () => null,
    }),
    networks: new CallerNetworks(),
    socketsMax: 1,
    origins: new Set(),
    ownOrigin,
    apiUrl: 'http://localhost:4000',
    resources: { api: { realm: 'api' }, agents: { realm: 'mcp' } },
    cellLines: [],
    securityHeaders: [],
    addressOf: addressReader([]),
    isDraining: () => false,
    clientStalledMs: 1_000,
    isTraceParent: () => false,
    onAnswered: () => undefined,
  });
  const server = createServer(edge);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await upstream.close();
    },
  };
}

import type { Server } from 'node:http';
import { apiResourceOf, mcpMetadataUrlOf, mcpResourceOf } from '@wts/access';
import { callMetrics, openAuthenticator, openServiceClient } from '@wts/service-kit/call';
import { closeNow, createHttpServer, drainServer, listen, onUpgrade } from '@wts/service-kit/http';
import { logListening, type ServiceContext, type ServiceDefinition } from '@wts/service-kit/life';
import { onRevocation, openNats, type Nats } from '@wts/service-kit/nats';
import { HEADERS, LIMITS } from '@wts/contracts';
import express from 'express';
import type { Express } from 'express';
import { allowedOrigins, settings, type GatewayConfig } from './config.ts';
import { addressReader, peerMatcher, peerReader } from './client-address.ts';
import { DEPRECATIONS, deprecationHeaders } from './deprecations.ts';
import { edgePages } from './edge-pages.ts';
import { createEdge, type EdgeParts } from './edge/edge.ts';
import { securityHeaders } from './edge/request-context.ts';
import { RateLimiter } from './edge/limit-rate.ts';
import { NetworkConnections } from './edge/network-connections.ts';
import { compileRoutes } from './edge/route-table.ts';
import { delayContinue, refuseConnect, upgradeOnlyWebSockets } from './edge/server-events.ts';
import { Shares } from './edge/shares.ts';
import { SocketProxy } from './edge/socket-proxy.ts';
import { EDGE_LIMITS } from './limits.ts';
import { describeRoutes } from './openapi.ts';
import { ownAnswers } from './own-answers.ts';
import { shareRates } from './rates/share.ts';
import { Tally } from './rates/tally.ts';
import { checkUpstream } from './ready.ts';
import { requestRecorder } from './record.ts';
import { API_ROUTES, ESSENTIAL_UPSTREAMS, forUpstreams, GRAPHIQL_ROUTES, routesOf } from './routes.ts';
import { openUpstream } from './upstream.ts';

/**
 * The only public entry. Two origins on two ports share every step and differ in their route table. The gateway has no
 * store: it resolves credentials by calls to the auth service and caches them for seconds.
 */
export const gateway: ServiceDefinition<GatewayConfig> = {
  name: 'gateway',
  settings,
  // One to the client and one to a service.
  filesPerConnection: 2,
  async open(kit, config) {
    const nats = openNats({ ...config, name: `wts-${kit.name}`, log: kit.log, stack: kit.stack });
    const shared = openShared(kit, config, nats);
    const notices = deprecationHeaders(DEPRECATIONS, new Set(API_ROUTES.map((route) => route.contract.id)));
    const routes = routesOf(config);
    const api: EdgeParts = {
      ...shared,
      routes: compileRoutes([...routes.api, ...(config.graphiql ? GRAPHIQL_ROUTES : [])], notices),
      securityHeaders: securityHeaders(new URL(config.baseUrl)),
      ownOrigin: new URL(config.baseUrl).origin,
    };
    const app = serve(api);
    const sockets = new SocketProxy(api);
    // The service that holds a socket closes it when its credential is revoked.
    onRevocation(nats, (revocation) => shared.authenticator.revoke(revocation));
    const authServer = await openAuthOrigin(kit, config, {
      ...shared,
      routes: compileRoutes(routes.auth),
      securityHeaders: securityHeaders(new URL(config.authUrl)),
      ownOrigin: new URL(config.authUrl).origin,
      pages: edgePages(config.authUrl),
      // CORS_ORIGINS are for the API. Here an operation is open to pages of any origin, or to its own pages only.
      origins: null,
    });

    return {
      app,
      onUpgrade: (req, socket, head) => sockets.handle(req, socket, head),
      callers: 'anyone',
      prepare: (server) => prepare(server, app, api),
      port: config.port,
      host: config.host,
      beforeDrain: async () => {
        const graceMs = config.shutdownGraceMs;
        await Promise.all([sockets.close(graceMs), drainServer(authServer, graceMs)]);
      },
    };
  },
};

function resourcesOf(config: GatewayConfig): EdgeParts['resources'] {
  return {
    api: { realm: 'api', metadataUrl: `${apiResourceOf(config.baseUrl)}/.well-known/oauth-protected-resource` },
    agents: {
      realm: 'mcp',
      metadataUrl: mcpMetadataUrlOf(config),
      scopes: ['read', 'write'],
      audience: mcpResourceOf(config),
    },
  };
}

/** What the steps of both origins share. */
function openShared(
  kit: ServiceContext,
  config: GatewayConfig,
  nats: Nats,
): Omit<EdgeParts, 'routes' | 'securityHeaders' | 'ownOrigin'> {
  const upstreams = openUpstreams(kit, config);
  for (const name of ESSENTIAL_UPSTREAMS) {
    const upstream = upstreams[name];
    kit.readiness.add(upstream.name, (signal) => checkUpstream(upstream, signal));
  }
  const tally = new Tally();
  const { changed } = shareRates(tally, nats, kit.stack);
  return {
    rates: new RateLimiter({ tally, onCounted: changed, limits: config.rateLimits }),
    shares: new Shares({
      requestsMax: EDGE_LIMITS.requestsOfCallerMax,
      socketsMax: EDGE_LIMITS.socketsOfCallerMax,
      socketsOfAllMax: kit.connections.socketsMax,
      bodyBytesMax: EDGE_LIMITS.bodyBytesOfCallerMax,
      requestsOfNetworkMax: EDGE_LIMITS.requestsOfNetworkMax,
      bodyBytesOfNetworkMax: EDGE_LIMITS.bodyBytesOfNetworkMax,
      bodyBytesOfAllMax: EDGE_LIMITS.bodyBytesOfAllMax,
    }),
    connections: shareConnections(kit, config),
    networks: kit.networks,
    upstreams,
    resources: resourcesOf(config),
    cellLines: config.shard === 0 ? [] : [HEADERS.shard, String(config.shard)],
    mintToken: forUpstreams((to) => kit.mintTokenFor(to)),
    authenticator: openAuthenticator(
      kit,
      openServiceClient({ ...kit, shard: config.shard }, 'auth', config.authServiceUrls),
      config,
    ),
    ownAnswers: ownAnswers(kit.readiness, describe(kit, config), config),
    apiUrl: apiResourceOf(config.baseUrl),
    socketsMax: kit.connections.socketsMax,
    origins: allowedOrigins(config.corsOrigins),
    isDraining: kit.http.isDraining,
    isTraceParent: peerMatcher(config.traceParents),
    addressOf: addressReader(config.trustedProxies, (sender) => kit.log.warn({ sender }, IGNORED_ADDRESS)),
    clientStalledMs: config.clientStalledMs,
    onAnswered: requestRecorder(kit),
  };
}

const IGNORED_ADDRESS =
  'an X-Forwarded-For is ignored, because TRUSTED_PROXIES does not list its sender; behind a proxy that is not listed, all callers share the limits of one address';

function shareConnections({ connections }: ServiceContext, config: GatewayConfig): NetworkConnections {
  const ofNetworkMax = Math.ceil((connections.max * config.connectionsOfNetworkPercent) / 100);
  const shared = new NetworkConnections({
    ofNetworkMax,
    refusedOfNetworkMax: Math.ceil(ofNetworkMax * LIMITS.connectionsRefusedShare),
    idleMs: EDGE_LIMITS.connectionIdleMs,
    networkOf: peerReader(config.trustedProxies),
  });
  connections.setAdmission((socket, isFull) => shared.admit(socket, isFull));
  return shared;
}

/** The second origin, on a second port. */
async function openAuthOrigin(kit: ServiceContext, config: GatewayConfig, parts: EdgeParts): Promise<Server> {
  const app = serve(parts);
  const sockets = new SocketProxy(parts);
  const server = createHttpServer(app, { log: kit.log, connections: kit.connections });
  onUpgrade(server, (req, socket, head) => sockets.handle(req, socket, head), kit.log);
  prepare(server, app, parts);
  const port = await listen(server, config.host, config.authPort);
  kit.stack.defer(() => closeNow(server));
  logListening(kit.log, config.host, port, { origin: 'auth' });
  return server;
}

function describe({ build }: ServiceContext, { baseUrl, rateLimits }: GatewayConfig): object {
  return describeRoutes(API_ROUTES, { serverUrl: baseUrl, build, rateLimits, deprecations: DEPRECATIONS });
}

function openUpstreams({ log, metrics, stack }: ServiceContext, config: GatewayConfig): EdgeParts['upstreams'] {
  const more = { headersTimeoutMs: config.upstreamTimeoutMs, refreshMs: config.addressRefreshMs };
  return forUpstreams((name) => {
    const observe = callMetrics(metrics, name);
    const upstream = openUpstream(name, config[`${name}ServiceUrls`], log, { ...more, observe });
    stack.defer(() => upstream.close());
    return upstream;
  });
}

/** The edge as an Express app. The edge answers every request, so Express's own answers are never used. */
function serve(parts: EdgeParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(createEdge(parts));
  return app;
}

function prepare(server: Server, app: Express, parts: EdgeParts): void {
  delayContinue(server, app);
  upgradeOnlyWebSockets(server);
  refuseConnect(server, parts);
  server.timeout = EDGE_LIMITS.silenceMs;
}

import {
  callerSettings,
  cellSetting,
  credentialSettings,
  defineSettings,
  entryTraceSettings,
  natsSettings,
  serviceSettings,
  setting,
} from '@wts/service-kit/config';
import type { ConfigOf, Setting } from '@wts/service-kit/config';
import { LOOPBACK, type AllowedOrigins } from './edge/allow-origin.ts';
import { EDGE_LIMITS } from './limits.ts';
import { parseRateLimits, type RateLimits } from './rates/policies.ts';
import { forUpstreams, type UpstreamName } from './routes.ts';

export const settings = defineSettings({
  ...serviceSettings,
  ...callerSettings,
  ...credentialSettings,
  ...entryTraceSettings,
  port: setting.port('PORT', { default: 4000, doc: 'Port of the API origin (BASE_URL).' }),
  authPort: setting.port('AUTH_PORT', { default: 4001, doc: 'Port of the authorization origin (AUTH_URL).' }),
  ...upstreamUrls(),
  shard: cellSetting,
  ...natsSettings(
    'NATS server, which announces revoked credentials and shares rate counts between gateways. During an outage of NATS a revoked credential works for up to 5 s, and each gateway counts alone.',
  ),
  upstreamTimeoutMs: setting.durationMs('UPSTREAM_TIMEOUT_MS', {
    default: EDGE_LIMITS.upstreamHeadersTimeoutMs,
    min: 100,
    max: 600_000,
    doc: 'How long a service may take to begin its answer before the caller gets 503. Raise it when correct answers take longer.',
  }),
  clientStalledMs: setting.durationMs('CLIENT_STALLED_MS', {
    default: EDGE_LIMITS.readerStalledMs,
    min: 100,
    max: 600_000,
    doc: 'How long a client may read nothing of its answer before it is disconnected. Raise it for clients that pause for longer.',
  }),
  corsOrigins: setting.texts('CORS_ORIGINS', {
    default: [],
    refuse: refuseOrigin,
    doc: 'Origins of web pages that may call the API and open sockets, such as https://app.example.com. http://localhost:* allows every port of localhost; so do 127.0.0.1 and [::1]. Programs, and pages of BASE_URL, need none.',
  }),
  rateLimits: setting.json<RateLimits, { doc: string; default: RateLimits }>('RATE_LIMITS', {
    default: {},
    read: parseRateLimits,
    doc: 'Rate limits that differ from those in rates/policies.ts, as sync.mutate=600/60s, rest=1000 or as {"rest": 1000}: requests in a window of seconds; 0 turns a limit off. The limits of sync are off by default: sync.mutate, .deltas, .batch, .bootstrap and .socket for each person, sync.mutate.network and so on for each network.',
  }),
  connectionsOfNetworkPercent: setting.int('CONNECTIONS_OF_NETWORK_PERCENT', {
    default: EDGE_LIMITS.connectionsOfNetworkPercent,
    min: 1,
    max: 100,
    doc: 'Percent of CONNECTIONS_MAX that one IPv4 address or IPv6 network of 64 bits may hold without a credential. TRUSTED_PROXIES are not counted. Raise it when many people connect from one address.',
  }),
  graphiql: setting.flag('GRAPHIQL', {
    default: false,
    doc: 'on: GET /graphql is a page to write and run GraphQL operations. For development; the page opens without a credential, but reads nothing without one.',
  }),
  traceParents: setting.texts('TRACE_PARENTS', {
    default: [],
    doc: 'IP addresses or CIDR ranges of your proxies whose traceparent header is the parent of the trace, which they may decide to record. They must not forward that of their clients. Of all other callers a traceparent is only linked.',
  }),
  trustedProxies: setting.texts('TRUSTED_PROXIES', {
    default: [],
    doc: 'IP addresses or CIDR ranges of the proxies in front of the gateway. Only their X-Forwarded-For is used. Set it behind a proxy or load balancer; otherwise all callers count as one address.',
  }),
});

export type GatewayConfig = ConfigOf<typeof settings>;

/** `syncServiceUrls`, read from `SYNC_SERVICE_URL`, and so on for each service of the route table. */
function upstreamUrls(): { readonly [Name in UpstreamName as `${Name}ServiceUrls`]: Setting<readonly string[]> } {
  const settings = forUpstreams((name) =>
    setting.urls(`${name.toUpperCase().replaceAll('-', '_')}_SERVICE_URL`, {
      doc: `Addresses of the ${name} service.`,
    }),
  );
  return Object.fromEntries(Object.entries(settings).map(([name, urls]) => [`${name}ServiceUrls`, urls])) as ReturnType<
    typeof upstreamUrls
  >;
}

/** Origins as `CORS_ORIGINS` has them, those with any port among them. */
export function allowedOrigins(origins: readonly string[]): AllowedOrigins {
  const exact = new Set(origins.filter((origin) => !origin.endsWith(ANY_PORT)));
  const anyPort = new Set(origins.filter((origin) => origin.endsWith(ANY_PORT)));
  return {
    size: origins.length,
    has: (origin) => exact.has(origin) || anyPort.has(origin.replace(/(?::\d{1,5})?$/, ANY_PORT)),
  };
}

const ANY_PORT = ':*';

/**
 * Origins must be written as browsers send them. Refuses `*`, `null` and paths. `:*` is any port, for this machine only: on another
 * host each port may belong to another owner.
 */
function refuseOrigin(origin: string): string | null {
  const hasAnyPort = origin.endsWith(ANY_PORT);
  const text = hasAnyPort ? origin.slice(0, -ANY_PORT.length) : origin;
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== text || (hasAnyPort && url.port !== ''))
    return `has "${origin}", which is no origin; write it as https://app.example.com`;
  if (hasAnyPort && !LOOPBACK.test(url.hostname))
    return `has "${origin}", which allows every port; only origins of this machine may, such as http://localhost:*; name the port`;
  return null;
}

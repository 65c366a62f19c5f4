import { credentialSettings, defineSettings, natsSetting, serviceSettings, setting } from '@wts/service-kit/config';
import type { ConfigOf, Setting } from '@wts/service-kit/config';
import { EDGE_LIMITS } from './limits.ts';
import { parseRateLimits } from './rates/policies.ts';
import type { RateLimits } from './rates/policies.ts';
import { forUpstreams } from './routes.ts';
import type { UpstreamName } from './routes.ts';

const HTTP = { protocols: ['http', 'https'] } as const;

export const settings = defineSettings({
  ...serviceSettings,
  ...credentialSettings,
  port: setting.port('PORT', { default: 4000, doc: 'Port of the API origin, BASE_URL.' }),
  authPort: setting.port('AUTH_PORT', { default: 4001, doc: 'Port of the authorization origin, AUTH_URL.' }),
  baseUrl: setting.url('BASE_URL', {
    ...HTTP,
    default: 'http://localhost:4000',
    doc: 'Address clients reach the API at; https turns on HSTS.',
  }),
  authUrl: setting.url('AUTH_URL', {
    ...HTTP,
    default: 'http://localhost:4001',
    doc: 'Address clients reach the authorization origin at.',
  }),
  ...upstreamUrls(),
  natsUrls: natsSetting(
    'Where revoked credentials are announced. The gateway works without it, and then learns of them within 5 s.',
  ),
  upstreamTimeoutMs: setting.durationMs('UPSTREAM_TIMEOUT_MS', {
    default: EDGE_LIMITS.upstreamHeadersTimeoutMs,
    min: 100,
    max: 600_000,
    doc: 'How long a service may take to begin its answer; then the caller gets 503.',
  }),
  clientStalledMs: setting.durationMs('CLIENT_STALLED_MS', {
    default: EDGE_LIMITS.readerStalledMs,
    min: 100,
    max: 600_000,
    doc: 'How long a client may take nothing of its answer before it is cut.',
  }),
  corsOrigins: setting.texts('CORS_ORIGINS', {
    default: [],
    doc: 'Origins of web pages that may call this interface and open sockets, such as https://app.example.com.',
  }),
  rateLimits: setting.json<RateLimits, { doc: string; default: RateLimits }>('RATE_LIMITS', {
    default: {},
    read: parseRateLimits,
    doc: 'Other rates than those of rates/policies.ts, as sync.mutate=600/60s, rest=1000 or as {"rest": 1000}; 0 switches one off. Those of sync are off by default: sync.mutate, .deltas, .batch, .bootstrap and .socket for each person, sync.mutate.network and so on for each network.',
  }),
  connectionsOfNetworkPercent: setting.int('CONNECTIONS_OF_NETWORK_PERCENT', {
    default: EDGE_LIMITS.connectionsOfNetworkPercent,
    min: 1,
    max: 100,
    doc: 'Share of CONNECTIONS_MAX that one IPv4 address or IPv6 network of 64 bits may hold without a credential; TRUSTED_PROXIES are not counted.',
  }),
  trustedProxies: setting.texts('TRUSTED_PROXIES', {
    default: [],
    doc: 'IP addresses or CIDR ranges of the proxies in front of the gateway; only they are believed about addresses.',
  }),
});

export type GatewayConfig = ConfigOf<typeof settings>;

/** `syncUrls`, read from `SYNC_URL`, and so on for each service of the route table. */
function upstreamUrls(): { readonly [Name in UpstreamName as `${Name}Urls`]: Setting<readonly string[]> } {
  const settings = forUpstreams((name) =>
    setting.urls(`${name.toUpperCase().replaceAll('-', '_')}_URL`, {
      ...HTTP,
      doc: `Addresses of the ${name} service.`,
    }),
  );
  return Object.fromEntries(Object.entries(settings).map(([name, urls]) => [`${name}Urls`, urls])) as ReturnType<
    typeof upstreamUrls
  >;
}

/** Checks that origins are written as browsers send them. Refuses `*`, `null` and paths. */
export function checkOrigins(origins: readonly string[]): ReadonlySet<string> {
  for (const origin of origins) {
    const url = URL.parse(origin);
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.origin === origin;
    if (!isOrigin) throw new Error(`CORS_ORIGINS: "${origin}" is no origin; write it as https://app.example.com`);
  }
  return new Set(origins);
}

import { Fault } from '@wts/contracts';
import { EDGE_LIMITS } from '../limits.ts';
import type { RequestContext } from './request-context.ts';
import type { PathEntry } from './route-table.ts';

const READABLE = [
  'Api-Version',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Mcp-Session-Id',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Sunset',
  'WWW-Authenticate',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
].join(', ');
const SENDABLE = [
  'Authorization',
  'Content-Type',
  'Api-Version',
  'X-Request-Id',
  'Idempotency-Key',
  'If-None-Match',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'X-GraphQL-Cost',
  'X-Min-Sync-Id',
  'Traceparent',
  'Tracestate',
].join(', ');

/** The origins of web pages that may call an interface: those of CORS_ORIGINS. */
export interface AllowedOrigins {
  readonly size: number;
  has(origin: string): boolean;
}

/**
 * CORS for the configured origins, on every route and every answer, also of malformed requests. The answer names the
 * configured origin, never `null`, and never allows cookies. Pages of any origin may read public answers, and call what takes
 * only the credential that they send. The authorization origin has no configured origins (null), so no other page may read
 * or call its own pages. Keeps sync.cors, meta.cors.
 */
export function allowOrigin(context: RequestContext, entry: PathEntry | null, origins: AllowedOrigins | null): void {
  const { reply } = context;
  if (entry?.anyOrigin) {
    reply.push('Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', READABLE);
    return;
  }
  if (origins === null || origins.size === 0) return;
  // Also without an Origin: a cache must not give the answer of one origin to another.
  reply.push('Vary', 'Origin');
  const origin = allowedOrigin(context, origins);
  if (origin !== null) reply.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', READABLE);
}

/** Headers of the answer to OPTIONS: those of a preflight, otherwise the list of methods. */
export function answerOptions(context: RequestContext, entry: PathEntry, origins: AllowedOrigins | null): string[] {
  const isPreflight = context.headers.origin.length > 0 && context.headers.preflightMethod.length > 0;
  if (!isPreflight) return ['Allow', entry.allow];
  if (!entry.anyOrigin && allowedOrigin(context, origins) === null) throw foreign('call this API', origins);
  return [
    'Access-Control-Allow-Methods',
    entry.allow,
    'Access-Control-Allow-Headers',
    SENDABLE,
    'Access-Control-Max-Age',
    String(EDGE_LIMITS.preflightSeconds),
    'Vary',
    'Access-Control-Request-Method, Access-Control-Request-Headers',
  ];
}

/**
 * Refuses sockets of pages of other sites, because browsers apply no CORS to WebSockets (RFC 6455 section 10.2). Pages of the
 * host that the request names are allowed, by any name of that host. Programs send no origin, or that of the host they call
 * (as websocket-client of Python does).
 */
export function refuseForeignSocket(context: RequestContext, origins: AllowedOrigins | null, own: string): void {
  const { origin, hosts } = context.headers;
  if (origin.length === 0 || (origin.length === 1 && (origin[0] === own || isOriginOf(origin[0], hosts[0])))) return;
  if (allowedOrigin(context, origins) === null) throw foreign('open sockets', origins);
}

/**
 * Refuses a page whose host name was made to resolve to this server (DNS rebinding): its requests name that host. A page elsewhere
 * names our host, and may call what is open to any origin. A server on the loopback interface is for programs of its machine: by
 * any of the names of that interface, and for pages of it only. A proxy must pass `Host` on unchanged.
 * Keeps agent.http.foreign-host, agent.http.foreign-origin.
 */
export function refuseReboundHost({ headers: { origin, hosts } }: RequestContext, own: string): void {
  const { hostname } = new URL(own);
  const isLocal = LOOPBACK.test(hostname);
  const named = URL.parse(`http://${hosts[0]}`)?.hostname ?? '';
  if (isLocal ? !LOOPBACK.test(named) : named !== hostname)
    throw new Fault('forbidden', { message: 'This server does not have this host name.' });
  if (isLocal && !origin.every((one) => LOOPBACK.test(URL.parse(one)?.hostname ?? '')))
    throw new Fault('forbidden', { message: 'This origin may not call this operation.' });
}

/** As the URL parser writes them, which resolves forms such as `0x7f.1`. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Whether an origin is that of the host that the request names. */
function isOriginOf(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined) return false;
  return [`http://${host}`, `https://${host}`].includes(origin);
}

function allowedOrigin({ headers }: RequestContext, origins: AllowedOrigins | null): string | null {
  const [origin] = headers.origin;
  return headers.origin.length === 1 && origin !== undefined && origins?.has(origin) ? origin : null;
}

/** Browsers show the developer of a page this body in their list of requests, and nothing else. */
function foreign(what: string, origins: AllowedOrigins | null): Fault {
  const advice = origins === null ? '' : ' The operator of this service allows it with the setting CORS_ORIGINS.';
  return new Fault('forbidden', { message: `Web pages of this origin may not ${what}.${advice}` });
}

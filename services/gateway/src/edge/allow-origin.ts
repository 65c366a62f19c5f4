import { Fault } from '@wts/contracts';
import { EDGE_LIMITS } from '../limits.ts';
import type { Exchange } from './exchange.ts';
import type { PathEntry } from './route-table.ts';

const READABLE = 'Api-Version, Deprecation, Link, Retry-After, Sunset, WWW-Authenticate, X-Request-Id';
const SENDABLE = 'Authorization, Content-Type, Api-Version, X-Request-Id, Idempotency-Key, Traceparent, Tracestate';

/**
 * CORS for the configured origins, on routes meant for browsers. The answer names the configured origin, never `*` and
 * never `null`, and allows no cookies: this interface has none. Keeps sync.cors.
 */
export function allowOrigin(exchange: Exchange, entry: PathEntry, origins: ReadonlySet<string>): void {
  if (!entry.browsers || origins.size === 0) return;
  // Also without an Origin: a cache must not hand one origin's answer to another.
  exchange.reply.push('Vary', 'Origin');
  const origin = allowedOrigin(exchange, origins);
  if (origin !== null) {
    exchange.reply.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', READABLE);
  }
}

/** Header lines that answer OPTIONS: a preflight when it is one, else the list of methods. */
export function answerOptions(exchange: Exchange, entry: PathEntry, origins: ReadonlySet<string>): string[] {
  const isPreflight = exchange.headers.origin.length > 0 && exchange.headers.preflightMethod.length > 0;
  if (!isPreflight) return ['Allow', entry.allow];
  if (!entry.browsers || allowedOrigin(exchange, origins) === null) {
    throw new Fault('forbidden', { message: 'This origin may not call this operation.' });
  }
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

/** A page of a foreign site must not open a socket: browsers apply no CORS to WebSockets (RFC 6455 section 10.2). */
export function refuseForeignSocket(exchange: Exchange, origins: ReadonlySet<string>): void {
  if (origins.size === 0 || exchange.headers.origin.length === 0) return;
  if (allowedOrigin(exchange, origins) === null) {
    throw new Fault('forbidden', { message: 'This origin may not open a socket.' });
  }
}

function allowedOrigin({ headers }: Exchange, origins: ReadonlySet<string>): string | null {
  const [origin] = headers.origin;
  return headers.origin.length === 1 && origin !== undefined && origins.has(origin) ? origin : null;
}

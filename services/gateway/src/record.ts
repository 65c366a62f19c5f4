import { meta } from '@wts/contracts';
import type { Fault } from '@wts/contracts';
import type { ServiceContext } from '@wts/service-kit/life';
import { endRequestSpan, strayPath } from '@wts/service-kit/observe';
import type { AddressReader } from './client-address.ts';
import type { EdgeParts } from './edge/edge.ts';

/** Probes are most requests of an idle system; their lines are worth reading only when somebody debugs. */
const PROBES: ReadonlySet<string> = new Set([meta.health.id, meta.ready.id]);

/** Writes one log line and one observation per request. Never the query: it may hold a token. */
export function requestRecorder(
  { log, http }: Pick<ServiceContext, 'log' | 'http'>,
  addressOf: AddressReader,
): EdgeParts['onAnswered'] {
  return (exchange, status, isComplete) => {
    const { method, headers } = exchange;
    const route = exchange.route?.contract.id ?? 'unmatched';
    const durationMs = performance.now() - exchange.startedAt;
    http.requests.observe(route, method, status, durationMs / 1000);
    if (exchange.span !== null) endRequestSpan(exchange.span, route, method, status);
    const level = levelOf(exchange.failure, route);
    if (!log.isLevelEnabled(level)) return;
    log[level](
      {
        method,
        route,
        status,
        durationMs: Math.round(durationMs * 1000) / 1000,
        requestId: exchange.requestId,
        userId: exchange.principal?.userId,
        code: exchange.failure?.code,
        err: level === 'warn' || level === 'error' ? exchange.failure?.cause : undefined,
        client: addressOf(exchange.peer, headers.forwardedFor),
        // Set when the client left before it had the whole answer.
        aborted: isComplete ? undefined : true,
        path: exchange.route === null ? strayPath(exchange.path) : undefined,
      },
      'request',
    );
  };
}

/** A bug needs somebody; a service that is away comes back by itself, and probes of it say so all the time. */
function levelOf(failure: Fault | null, route: string): 'debug' | 'info' | 'warn' | 'error' {
  if (failure?.code === 'internal') return 'error';
  if (PROBES.has(route)) return 'debug';
  return failure !== null && failure.status >= 500 ? 'warn' : 'info';
}

import { endSpan, headerOf, startLinkedSpan } from '@wts/service-kit/observe';
import type { SendAttempt } from '../domain/attempt.ts';
import type { EventTraces } from '../domain/event-traces.ts';

/**
 * Makes each attempt in a span that links to the commit of its event, when that is recorded. Of the URL it has the host alone, because
 * paths and queries of endpoints may be secrets. Consumers get the trace only when `isSent`.
 */
export function traceAttempts(send: SendAttempt, traces: EventTraces, isSent: boolean): SendAttempt {
  return async (request) => {
    const cause = traces.of(request.eventId);
    const span = cause === undefined ? null : startLinkedSpan('POST', { kind: 'CLIENT', causes: [cause] });
    if (span === null) return send(request);
    const { hostname, port, protocol } = new URL(request.url);
    span.setAttributes({
      'http.request.method': 'POST',
      'url.scheme': protocol.slice(0, -1),
      'server.address': hostname,
      'server.port': Number(port || 443),
      'wts.event.id': request.eventId,
    });
    const result = await send(isSent ? { ...request, traceparent: headerOf(span) } : request);
    const status = result.statusCode === null ? {} : { 'http.response.status_code': result.statusCode };
    const type = result.error === 'http_status' ? String(result.statusCode) : result.error;
    endSpan(span, type === null ? undefined : { code: type }, status);
    return result;
  };
}

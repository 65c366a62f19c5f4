import { recordRequest } from '@wts/service-kit/http';
import type { ServiceContext } from '@wts/service-kit/life';
import type { AddressReader } from './client-address.ts';
import type { EdgeParts } from './edge/edge.ts';

/** Writes one log line and one observation per request. Never the query: it may hold a token. */
export function requestRecorder(
  { http }: Pick<ServiceContext, 'http'>,
  addressOf: AddressReader,
): EdgeParts['onAnswered'] {
  return (exchange, status, isComplete) => {
    const { method, startedAt, requestId, failure, span, path } = exchange;
    recordRequest(http, {
      method,
      route: exchange.route?.contract.id ?? null,
      status,
      startedAt,
      requestId,
      userId: exchange.principal?.userId,
      failure,
      span,
      isComplete,
      path,
      client: () => addressOf(exchange.peer, exchange.headers.forwardedFor),
    });
  };
}

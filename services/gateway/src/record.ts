import { recordRequest } from '@wts/service-kit/http';
import type { ServiceContext } from '@wts/service-kit/life';
import type { EdgeParts } from './edge/edge.ts';

/** Writes one log line and one metric per request. Never logs the query, which may hold a token. */
export function requestRecorder({ http }: Pick<ServiceContext, 'http'>): EdgeParts['onAnswered'] {
  return (context, status, isComplete) => {
    const { method, startedAt, requestId, failure, span, path } = context;
    recordRequest(http, {
      method,
      route: context.route?.contract ?? null,
      status,
      startedAt,
      requestId,
      userId: context.principal?.userId,
      failure,
      span,
      isComplete,
      path,
      client: context.client,
    });
  };
}

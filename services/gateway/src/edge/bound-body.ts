import type { ServerResponse } from 'node:http';
import { collectBody } from '@wts/service-kit/http';
import type { ReserveBytes } from '@wts/service-kit/http';
import type { RequestContext } from './request-context.ts';

/**
 * The body of a request, whole: a service is asked once there is something to ask it, so that a slow sender holds
 * no connection to it. Nothing looks into it; the service that owns the operation validates it. A declared length over the
 * bound is refused before a byte is read, an undeclared one the moment it grows past it. Operations that take no body get
 * none: what a client sent with a GET is dropped here.
 * Keeps errors.413.body, limits.body.mutate, limits.body.rest.
 */
export async function boundBody(
  context: RequestContext,
  res: ServerResponse,
  hold: ReserveBytes,
): Promise<Buffer | null> {
  const bytesMax = context.route?.bodyBytesMax ?? 0;
  if (bytesMax === 0 || !context.hasBody) return null;
  const declared = context.headers.transferEncoding.length > 0 ? null : context.declaredBytes;
  // A body that will be refused is not asked for.
  if (context.awaitsContinue && !context.req.destroyed && (declared ?? 0) <= bytesMax) {
    context.awaitsContinue = false;
    res.writeContinue();
  }
  return collectBody(context.req, { declared, bytesMax, hold });
}

import type { ServerResponse } from 'node:http';
import { collectBody } from '@wts/service-kit/http';
import type { HoldBytes } from '@wts/service-kit/http';
import type { Exchange } from './exchange.ts';

/**
 * The body of a request, whole: a service is asked once there is something to ask it, so that a slow sender holds
 * no connection to it. Nothing looks into it; the service that owns the operation validates it. A declared length over the
 * bound is refused before a byte is read, an undeclared one the moment it grows past it. Operations that take no body get
 * none: what a client sent with a GET is dropped here.
 * Keeps errors.413.body, limits.body.mutate, limits.body.rest.
 */
export async function boundBody(exchange: Exchange, res: ServerResponse, hold: HoldBytes): Promise<Buffer | null> {
  const bytesMax = exchange.route?.bodyBytesMax ?? 0;
  if (bytesMax === 0 || !exchange.hasBody) return null;
  const declared = exchange.headers.transferEncoding.length > 0 ? null : exchange.declaredBytes;
  // A body that will be refused is not asked for.
  if (exchange.awaitsContinue && !exchange.req.destroyed && (declared ?? 0) <= bytesMax) {
    exchange.awaitsContinue = false;
    res.writeContinue();
  }
  return collectBody(exchange.req, { declared, bytesMax, hold });
}

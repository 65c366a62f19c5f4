import type { ServerResponse } from 'node:http';
import { collectBody, joined, sizeOf, type ReserveBytes } from '@wts/service-kit/http';
import type { RequestContext } from './request-context.ts';

/** In parts where joining them would take longer than sending each. */
export type CompleteBody = Uint8Array | readonly Uint8Array[];

const JOINED_BYTES_MAX = 128 * 1024;

/**
 * Reads the body of a request to its end before the service is called, so that a slow sender holds no connection to the
 * service. The gateway does not parse it; the service validates it. A declared length over the limit is refused before a byte
 * is read, a chunked body as soon as it exceeds the limit. Operations without a body get none: a body of a GET is dropped.
 * Keeps errors.413.body, limits.body.mutate, limits.body.rest.
 */
export async function boundBody(
  context: RequestContext,
  res: ServerResponse,
  hold: ReserveBytes,
): Promise<CompleteBody | null> {
  const bytesMax = context.route?.bodyBytesMax ?? 0;
  if (bytesMax === 0 || !context.hasBody) return null;
  const declared = context.headers.transferEncoding.length > 0 ? null : context.declaredBytes;
  // `100 Continue` is sent only for a body that will be read.
  if (context.awaitsContinue && !context.req.destroyed && (declared ?? 0) <= bytesMax) {
    context.awaitsContinue = false;
    res.writeContinue();
  }
  const parts = await collectBody(context.req, { declared, bytesMax, hold });
  return sizeOf(parts) > JOINED_BYTES_MAX ? parts : joined(parts);
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '@wts/contracts';
import type { Exchange } from './exchange.ts';

/** Told of the bytes of a body as they come; answers with the fault to refuse it with when there is no room for them. */
export type HoldBytes = (bytes: number) => Fault | null;

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
  const isChunked = exchange.headers.transferEncoding.length > 0;
  const bytes = exchange.declaredBytes;
  if (!isChunked && bytes > bytesMax) throw tooLarge(bytesMax);
  if (exchange.req.destroyed) throw new ClientGone();
  if (exchange.awaitsContinue) {
    exchange.awaitsContinue = false;
    res.writeContinue();
  }
  return collectBody(exchange.req, isChunked ? null : bytes, bytesMax, hold);
}

function tooLarge(bytesMax: number): Fault {
  return new Fault('payload_too_large', { message: `The body of this operation is at most ${bytesMax} bytes.` });
}

/**
 * Resolves with exactly `declared` bytes without waiting for the stream's own end, or, when nothing is declared, with what
 * came until then. After a refusal nothing more is read: whether the rest is dropped or the connection cut is decided with
 * the answer.
 */
export function collectBody(
  req: IncomingMessage,
  declared: number | null,
  bytesMax: number,
  hold: HoldBytes,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let received = 0;
    // Every request closes; that is news only before it is whole.
    const onClose = (): void => reject(new ClientGone());
    const done = (): void => {
      req.off('close', onClose);
      resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, received));
    };
    const onData = (part: Buffer): void => {
      received += part.length;
      const fault = received > bytesMax ? tooLarge(bytesMax) : hold(part.length);
      if (fault !== null) {
        req.off('data', onData);
        req.pause();
        parts.length = 0;
        reject(fault);
        return;
      }
      parts.push(part);
      if (received === declared) done();
    };
    req.on('data', onData);
    req.once('end', done);
    req.once('close', onClose);
  });
}

/** Thrown where a client left before its request was whole. Nobody is there to be answered. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGone';
  }
}

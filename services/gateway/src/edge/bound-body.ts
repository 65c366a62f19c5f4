import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Fault } from '@wts/contracts';
import { EDGE_LIMITS } from '../limits.ts';
import type { Exchange } from './exchange.ts';

/** What travels on as the body: nothing, all of it in hand, or a stream that counts. */
export type OnwardBody = null | Buffer | BoundedBody;

/**
 * Bounds the body of a request without looking into it; the service that owns the operation validates it. A declared
 * length over the bound is refused before a byte is read, an undeclared one the moment it grows past it. Operations
 * that take no body get none: what a client sent with a GET is dropped here.
 * Keeps errors.413.body, limits.body.mutate, limits.body.rest.
 */
export async function boundBody(exchange: Exchange, res: ServerResponse): Promise<OnwardBody> {
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
  return !isChunked && bytes <= EDGE_LIMITS.collectBytesMax
    ? collect(exchange.req, bytes)
    : new BoundedBody(exchange.req, bytesMax);
}

function tooLarge(bytesMax: number): Fault {
  return new Fault('payload_too_large', { message: `The body of this operation is at most ${bytesMax} bytes.` });
}

/** Resolves with exactly `bytes` bytes, without waiting for the stream's own `end`. */
function collect(req: IncomingMessage, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let received = 0;
    req.on('data', (part: Buffer) => {
      parts.push(part);
      received += part.length;
      if (received === bytes) resolve(parts.length === 1 ? part : Buffer.concat(parts, bytes));
    });
    req.once('close', () => reject(new ClientGone()));
  });
}

/** Thrown where a client left before its request was whole. Nobody is there to be answered. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection');
    this.name = 'ClientGone';
  }
}

/** The request's body as it streams through, with back-pressure, cut with a Fault when it passes its bound. */
export class BoundedBody extends Readable {
  readonly #req: IncomingMessage;
  #bytesLeft: number;

  constructor(req: IncomingMessage, bytesMax: number) {
    super();
    this.#req = req;
    this.#bytesLeft = bytesMax;
    req.pause();
    req.on('data', (part: Buffer) => {
      if (this.destroyed) return;
      this.#bytesLeft -= part.length;
      if (this.#bytesLeft < 0) this.destroy(tooLarge(bytesMax));
      else if (!this.push(part)) req.pause();
    });
    req.once('end', () => this.push(null));
    req.once('close', () => {
      if (!req.complete) this.destroy(new ClientGone());
    });
    // Whoever is sending this body hears of its errors; before and after that, nobody needs to.
    this.on('error', () => undefined);
  }

  override _read(): void {
    this.#req.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    // Whether the rest is dropped or the connection cut is decided with the answer.
    this.#req.pause();
    done(error);
  }
}

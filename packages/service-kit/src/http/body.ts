import type { IncomingMessage } from 'node:http';
import { Fault } from '@wts/contracts';

/** Called with the number of bytes of each part of a body; returns a fault when there is no memory left for them. */
export type ReserveBytes = (bytes: number) => Fault | null;

interface BodyBounds {
  /** The length the client declared; null when it declared none. */
  readonly declared: number | null;
  readonly bytesMax: number;
  readonly hold?: ReserveBytes;
}

/**
 * Collects a body. A declared length over the bound is refused before a byte is read, an undeclared one as soon as it is over the
 * bound. Resolves with exactly the declared bytes without waiting for the end of the stream. After a refusal nothing more is read:
 * the code that replies decides whether the rest is dropped or the connection is closed.
 */
export function collectBody(req: IncomingMessage, { declared, bytesMax, hold }: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (declared !== null && declared > bytesMax) return reject(tooLarge(bytesMax));
    if (req.destroyed) return reject(new ClientClosedError());
    const parts: Buffer[] = [];
    let received = 0;
    // A request that closes before it is complete was aborted by the client.
    const onClose = (): void => reject(new ClientClosedError());
    const done = (): void => {
      req.off('close', onClose);
      resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, received));
    };
    const onData = (part: Buffer): void => {
      received += part.length;
      const fault = received > bytesMax ? tooLarge(bytesMax) : (hold?.(part.length) ?? null);
      if (fault !== null) {
        req.off('data', onData);
        req.pause();
        parts.length = 0;
        return reject(fault);
      }
      parts.push(part);
      if (received === declared) done();
    };
    req.on('data', onData);
    req.once('end', done);
    req.once('close', onClose);
  });
}

function tooLarge(bytesMax: number): Fault {
  return new Fault('payload_too_large', { message: `The body may have at most ${bytesMax} bytes.` });
}

/** The client closed the connection before its request was complete, so no reply can reach it. */
export class ClientClosedError extends Error {
  constructor() {
    super('the client closed the connection before its request was complete');
    this.name = 'ClientClosedError';
  }
}

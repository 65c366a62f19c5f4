import type { IncomingMessage } from 'node:http';
import { Fault } from '@wts/contracts';
import { SERVICE_LIMITS } from '../limits.ts';

/** Called with the number of bytes of each part of a body; returns a fault when there is no memory left for them. */
export type ReserveBytes = (bytes: number) => Fault | null;

interface BodyBounds {
  /** The length the client declared; null when it declared none. */
  readonly declared: number | null;
  readonly bytesMax: number;
  readonly hold?: ReserveBytes;
}

/**
 * Collects a body, as parts in their order. A declared length over the bound is refused before a byte is read, an undeclared one as soon as it
 * is over the bound. Resolves with exactly the declared bytes without waiting for the end of the stream. After a refusal nothing more is read:
 * the code that replies decides whether the rest is dropped or the connection is closed.
 */
export function collectBody(
  req: IncomingMessage,
  { declared, bytesMax, hold }: BodyBounds,
): Promise<readonly Uint8Array[]> {
  return new Promise((resolve, reject) => {
    if (declared !== null && declared > bytesMax) return reject(tooLarge(bytesMax));
    if (req.destroyed) return reject(new ClientClosedError());
    const parts = new Parts();
    let received = 0;
    // A request that closes before it is complete was aborted by the client.
    const onClose = (): void => reject(new ClientClosedError());
    const done = (): void => {
      req.off('close', onClose);
      resolve(parts.take());
    };
    const faultOf = (bytes: number): Fault | null => {
      if (received > bytesMax) return tooLarge(bytesMax);
      // Each takes time of the event loop, however small it is.
      if (declared === null && parts.added > SERVICE_LIMITS.bodyChunksMax) return tooManyChunks();
      return hold?.(bytes) ?? null;
    };
    const onData = (part: Buffer): void => {
      received += part.length;
      parts.add(part);
      const fault = faultOf(part.length);
      if (fault !== null) {
        req.off('data', onData);
        req.pause();
        parts.take();
        return reject(fault);
      }
      if (received === declared) done();
    };
    req.on('data', onData);
    req.once('end', done);
    req.once('close', onClose);
  });
}

/** The parts as one. If there are several, they are copied into the beginning of some memory of at least their size. */
export function joined(
  parts: readonly Uint8Array[],
  memoryOf: (bytes: number) => Uint8Array = (bytes) => Buffer.allocUnsafe(bytes),
): Uint8Array {
  const [first, second] = parts;
  if (first !== undefined && second === undefined) return first;
  const bytes = sizeOf(parts);
  const all = memoryOf(bytes).subarray(0, bytes);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function sizeOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** A part costs a hundred bytes besides its own, so smaller ones are copied into blocks. */
const PART_BYTES_MIN = 4096;
/**
 * The first block has the size of the least part, and each next one twice the size of the one before up to this, because otherwise two
 * bytes of a slow sender would hold a whole block, which no bound counts.
 */
const BLOCK_BYTES_MAX = 64 * 1024;

/** The parts of a body in the order in which they were added; none is small but the last ones of a block. */
class Parts {
  #added = 0;
  #parts: Uint8Array[] = [];
  /** Where small parts are copied, up to `#filled`; what is before `#taken` is in `#parts`. */
  #block = Buffer.alloc(0);
  #taken = 0;
  #filled = 0;

  /** How often one was added. */
  get added(): number {
    return this.#added;
  }

  add(part: Buffer): void {
    this.#added += 1;
    if (part.length >= PART_BYTES_MIN || this.#added === 1) {
      this.#endBlock();
      this.#parts.push(part);
      return;
    }
    if (this.#filled + part.length > this.#block.length) {
      this.#endBlock();
      const bytes = Math.max(PART_BYTES_MIN, 2 * this.#block.length);
      this.#block = Buffer.allocUnsafeSlow(Math.min(bytes, BLOCK_BYTES_MAX));
      this.#taken = this.#filled = 0;
    }
    this.#filled += part.copy(this.#block, this.#filled);
  }

  take(): readonly Uint8Array[] {
    this.#endBlock();
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  #endBlock(): void {
    if (this.#taken === this.#filled) return;
    this.#parts.push(this.#block.subarray(this.#taken, this.#filled));
    this.#taken = this.#filled;
  }
}

function tooLarge(bytesMax: number): Fault {
  return new Fault('payload_too_large', { message: `The body may have at most ${bytesMax} bytes.` });
}

function tooManyChunks(): Fault {
  return new Fault('malformed_request', {
    message: `A chunked body may have at most ${SERVICE_LIMITS.bodyChunksMax} chunks; send larger ones, or a Content-Length.`,
  });
}

/** The client closed the connection before its request was complete, so no reply can reach it. */
export class ClientClosedError extends Error {
  constructor() {
    super('the client closed the connection before its request was complete');
    this.name = 'ClientClosedError';
  }
}

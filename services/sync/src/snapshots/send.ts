import { acceptsGzip } from '@wts/service-kit/http';
import type { Request, Response } from 'express';
import { gzipHead, gzipTail } from './gzip.ts';
import type { LoopTurns } from '../fairness/loop-turns.ts';
import type { Encoding, SpooledSnapshot, SnapshotReader } from './spooled-snapshot.ts';

type Source = Pick<SpooledSnapshot, 'read' | 'turn' | 'encoding' | 'content' | 'stalledMs'>;

/**
 * Sends the first line and then the whole snapshot, at the pace of the client. The connection of a client that receives
 * nothing for too long is closed. When reading the snapshot fails, the answer stops after an error line and the end of the
 * body is never sent, so no client can take it for complete. Keeps sync.bootstrap.ndjson and sync.bootstrap.pace.
 */
export async function sendSnapshot(
  res: Response,
  { snapshot, reader }: { readonly snapshot: Source; readonly reader: SnapshotReader },
  firstLine: string,
): Promise<void> {
  const head = Buffer.from(firstLine);
  const isGzip = snapshot.encoding === 'gzip';
  if (isGzip) res.setHeader('content-encoding', 'gzip');
  startNdjson(res);
  const client = new ClientConnection(res, () => snapshot.stalledMs);
  try {
    // Node sends writes of one turn of the event loop together.
    const opening = isGzip ? gzipHead(head) : head;
    if (opening.length > 0 && !res.write(opening)) await client.drained();
    for (;;) {
      const next = snapshot.read(reader);
      const bytes = next instanceof Promise ? await client.unlessGone(next) : next;
      if (bytes === null) break;
      const turn = snapshot.turn(reader, bytes.length);
      if (turn) await client.unlessGone(turn);
      if (!res.write(bytes)) await client.drained();
    }
    res.end(isGzip ? gzipTail(head, snapshot.content) : undefined);
    await client.closed();
  } catch (error) {
    if (!(error instanceof ClientClosedError)) closeEarly(res, snapshot.stalledMs);
  }
}

interface PiecemealOptions {
  readonly turns: LoopTurns;
  readonly person: string;
  readonly stalledMs: () => number;
}

/** Sends bytes at the pace of the client; resolves when they are sent or the client has disconnected. */
export async function sendInPieces(
  res: Response,
  bytes: Buffer,
  { turns, person, stalledMs }: PiecemealOptions,
): Promise<void> {
  const client = new ClientConnection(res, stalledMs);
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      const turn = turns.take(person, piece.length);
      if (turn) await client.unlessGone(turn);
      if (at + PIECE_BYTES >= bytes.length) res.end(piece);
      else if (!res.write(piece)) await client.drained();
    }
    await client.closed();
  } catch (error) {
    if (!(error instanceof ClientClosedError)) throw error;
  }
}

/** A client must receive this much within `stalledMs`. */
const PIECE_BYTES = 128 * 1024;

/** Sends a short answer. */
export function sendLines(res: Response, lines: string): void {
  res.setHeader('content-length', Buffer.byteLength(lines));
  startNdjson(res);
  res.end(lines);
}

function startNdjson(res: Response): void {
  res.writeHead(200, {
    'content-type': 'application/x-ndjson',
    'cache-control': 'no-store',
    vary: 'accept-encoding',
  });
}

export function chooseEncoding({ headers }: Request): Encoding {
  return acceptsGzip(headers['accept-encoding']) ? 'gzip' : 'identity';
}

class ClientClosedError extends Error {}

/** How often a wait checks `stalledMs`, which may shrink meanwhile. */
const CHECK_EVERY_MS = 1_000;

/** Waits for the client of a response; one wait at a time. */
class ClientConnection {
  readonly #res: Response;
  readonly #stalledMs: () => number;
  #waiting: PromiseWithResolvers<unknown> | undefined;
  #isGone: boolean;

  constructor(res: Response, stalledMs: () => number) {
    this.#res = res;
    this.#stalledMs = stalledMs;
    this.#isGone = res.closed;
    res.on('drain', () => this.#waiting?.resolve(undefined));
    res.once('close', () => {
      this.#isGone = true;
      this.#waiting?.reject(new ClientClosedError());
    });
  }

  async unlessGone<T>(promise: Promise<T>): Promise<T> {
    const waiting = this.#wait<T>();
    promise.then(waiting.resolve, waiting.reject);
    return waiting.promise;
  }

  async drained(): Promise<void> {
    await this.#unlessStalled(this.#wait().promise);
  }

  /** Until all bytes are sent, or the client has disconnected. */
  async closed(): Promise<void> {
    if (this.#isGone) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#res.once('close', resolve);
    await this.#unlessStalled(promise);
  }

  #wait<T>(): PromiseWithResolvers<T> {
    if (this.#isGone) throw new ClientClosedError();
    const waiting = Promise.withResolvers<T>();
    this.#waiting = waiting as PromiseWithResolvers<unknown>;
    return waiting;
  }

  async #unlessStalled(wait: Promise<unknown>): Promise<void> {
    const since = performance.now();
    const check = (): void => {
      const leftMs = since + this.#stalledMs() - performance.now();
      if (leftMs <= 0) this.#res.destroy();
      else timer = setTimeout(check, Math.min(leftMs, CHECK_EVERY_MS));
    };
    let timer: NodeJS.Timeout | undefined;
    check();
    try {
      await wait;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Sends what was written, then closes the connection in the middle of the body. */
function closeEarly(res: Response, stalledMs: number): void {
  const { socket } = res;
  if (socket === null) return;
  const stalled = setTimeout(() => socket.destroy(), stalledMs);
  socket.once('close', () => clearTimeout(stalled));
  // Node flushes the writes of this turn of the event loop at its end.
  setImmediate(() => socket.destroySoon());
}

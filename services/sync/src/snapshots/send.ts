import { acceptsGzip } from '@wts/service-kit/http';
import type { Request, Response } from 'express';
import { gzipHead, gzipTail } from './gzip.ts';
import type { LoopTurns } from '../fairness/loop-turns.ts';
import type { Encoding, SpooledSnapshot, SnapshotReader } from './spooled-snapshot.ts';

type Source = Pick<SpooledSnapshot, 'read' | 'turn' | 'encoding' | 'content' | 'patienceMs'>;

/**
 * Sends the own first line and then everything of the snapshot, at the pace of the client. A client that takes nothing
 * for too long is cut off. When the snapshot breaks off, so does the answer, after its line of error: the end of the
 * body is never sent, so nobody can take it for whole. Keeps sync.bootstrap.ndjson and
 * sync.bootstrap.pace.
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
  const outflow = new Outflow(res, () => snapshot.patienceMs);
  try {
    // Node sends what is written within one turn together.
    const opening = isGzip ? gzipHead(head) : head;
    if (opening.length > 0 && !res.write(opening)) await outflow.drained();
    for (;;) {
      const next = snapshot.read(reader);
      const bytes = next instanceof Promise ? await outflow.unlessGone(next) : next;
      if (bytes === null) break;
      const turn = snapshot.turn(reader, bytes.length);
      if (turn) await outflow.unlessGone(turn);
      if (!res.write(bytes)) await outflow.drained();
    }
    res.end(isGzip ? gzipTail(head, snapshot.content) : undefined);
    await outflow.closed();
  } catch (error) {
    if (!(error instanceof ClientClosedError)) breakOff(res, snapshot.patienceMs);
  }
}

interface PiecemealOptions {
  readonly turns: LoopTurns;
  readonly person: string;
  readonly patienceMs: () => number;
}

/** Sends what is at hand, at the pace of the client; resolves when it has left, or the client has. */
export async function sendInPieces(
  res: Response,
  bytes: Buffer,
  { turns, person, patienceMs }: PiecemealOptions,
): Promise<void> {
  const outflow = new Outflow(res, patienceMs);
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      const turn = turns.take(person, piece.length);
      if (turn) await outflow.unlessGone(turn);
      if (!res.write(piece)) await outflow.drained();
    }
    res.end();
    await outflow.closed();
  } catch (error) {
    if (!(error instanceof ClientClosedError)) throw error;
  }
}

/** What a client must take within its time. */
const PIECE_BYTES = 128 * 1024;

/** An answer whose every byte is at hand. */
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

/** How long a client is waited for may become less while it is. */
const LOOK_AGAIN_MS = 1_000;

/** What there is to wait for at the client's end. One thing is waited for at a time. */
class Outflow {
  readonly #res: Response;
  readonly #patienceMs: () => number;
  #waiting: PromiseWithResolvers<unknown> | undefined;
  #isGone: boolean;

  constructor(res: Response, patienceMs: () => number) {
    this.#res = res;
    this.#patienceMs = patienceMs;
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
    await this.#unlessStalled();
  }

  /** Until the last byte has left, or the client has. */
  async closed(): Promise<void> {
    await this.#unlessStalled().catch(ignore);
  }

  #wait<T>(): PromiseWithResolvers<T> {
    if (this.#isGone) throw new ClientClosedError();
    const waiting = Promise.withResolvers<T>();
    this.#waiting = waiting as PromiseWithResolvers<unknown>;
    return waiting;
  }

  async #unlessStalled(): Promise<void> {
    const since = performance.now();
    const look = (): void => {
      const leftMs = since + this.#patienceMs() - performance.now();
      if (leftMs <= 0) this.#res.destroy();
      else looking = setTimeout(look, Math.min(leftMs, LOOK_AGAIN_MS));
    };
    let looking: NodeJS.Timeout | undefined;
    look();
    try {
      await this.#wait().promise;
    } finally {
      clearTimeout(looking);
    }
  }
}

/** Lets what was written leave, then closes the connection in the middle of the body. */
function breakOff(res: Response, stalledMs: number): void {
  const { socket } = res;
  if (socket === null) return;
  const stalled = setTimeout(() => socket.destroy(), stalledMs);
  socket.once('close', () => clearTimeout(stalled));
  // Node passes on what was written in this turn when the turn ends.
  setImmediate(() => socket.destroySoon());
}

function ignore(): void {}

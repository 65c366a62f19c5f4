import type { ServerResponse } from 'node:http';

export interface PiecemealOptions {
  /** How long the client may receive nothing. */
  readonly stalledMs: () => number;
  /** Returns a promise when a piece of this size must wait for its turn. */
  readonly turn?: (bytes: number) => Promise<void> | undefined;
}

/** Sends bytes, of which there are some, at the pace of the client; resolves when they are sent or the client has disconnected. */
export async function sendInPieces(
  res: ServerResponse,
  bytes: Buffer,
  { stalledMs, turn }: PiecemealOptions,
): Promise<void> {
  const client = new ClientConnection(res, stalledMs);
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      const ready = turn?.(piece.length);
      if (ready) await client.unlessGone(ready);
      if (at + PIECE_BYTES >= bytes.length) res.end(piece);
      else if (!res.write(piece)) await client.drained();
    }
    await client.closed();
  } catch (error) {
    if (!(error instanceof ClientGoneError)) throw error;
  }
}

/** A client must receive this much within `stalledMs`. */
const PIECE_BYTES = 128 * 1024;

/** The client of a response has disconnected. */
export class ClientGoneError extends Error {}

/** How often a wait checks `stalledMs`, which may shrink meanwhile. */
const CHECK_EVERY_MS = 1_000;

/** Waits for the client of a response, one wait at a time. Closes the connection of a client that receives nothing for too long. */
export class ClientConnection {
  readonly #res: ServerResponse;
  readonly #stalledMs: () => number;
  #waiting: PromiseWithResolvers<unknown> | undefined;
  #isGone: boolean;

  constructor(res: ServerResponse, stalledMs: () => number) {
    this.#res = res;
    this.#stalledMs = stalledMs;
    this.#isGone = res.closed;
    res.on('drain', () => this.#waiting?.resolve(undefined));
    res.once('close', () => {
      this.#isGone = true;
      this.#waiting?.reject(new ClientGoneError());
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
    if (this.#isGone) throw new ClientGoneError();
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

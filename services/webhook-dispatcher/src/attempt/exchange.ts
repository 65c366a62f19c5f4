import type { IncomingHttpHeaders } from 'node:http';
import type { Connection, Connections } from './connections.ts';

export interface Message {
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: Buffer;
}

/** The status line and what of the body came soon enough. */
export interface Answer {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** When the status line was there. */
  readonly decidedMs: number;
}

export interface NoAnswer {
  readonly error: unknown;
  /** Whether bytes of an answer had come. */
  readonly isBegun: boolean;
}

interface Exchange {
  readonly connection: Connection;
  readonly message: Message;
  /** Ends the wait for the status line. */
  readonly signal: AbortSignal;
}

const BODY_BYTES_MAX = 16_384;
/** Over the whole body, because a timeout between its parts does not end one that comes byte by byte. */
const BODY_MS_MAX = 1_000;

/**
 * Sends one request and reads its answer. The status line decides; only so much of the body is read as an operator
 * may want to see, and a connection whose body is longer is closed. Interim answers (1xx) are no answer. Redirects are answers like
 * any other, and the body is never decompressed.
 *
 * Keeps webhooks.attempt.no-redirects.
 */
export function exchange(
  connections: Connections,
  { connection, message, signal }: Exchange,
): Promise<Answer | NoAnswer> {
  const { promise, resolve } = Promise.withResolvers<Answer | NoAnswer>();
  const chunks: Buffer[] = [];
  let head: Omit<Answer, 'body'> | null = null;
  let bodyBytes = 0;
  let isBegun = false;
  let isSettled = false;
  let timer: NodeJS.Timeout | undefined;

  const settle = (error: unknown, isReusable: boolean): void => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    if (isReusable) connections.release(connection);
    else connections.discard(connection);
    resolve(head === null ? { error, isBegun } : { ...head, body: Buffer.concat(chunks) });
  };
  const abort = (): void => settle(signal.reason, false);

  signal.addEventListener('abort', abort);
  connection.client.dispatch(
    { method: 'POST', ...message },
    {
      // undici requires it.
      onRequestStart: () => undefined,
      onResponseStarted: () => {
        isBegun = true;
      },
      onResponseStart: (_, statusCode, headers) => {
        if (statusCode < 200 || isSettled) return;
        signal.removeEventListener('abort', abort);
        head = { statusCode, headers, decidedMs: performance.now() };
        timer = setTimeout(settle, BODY_MS_MAX, null, false);
      },
      onResponseData: (_, chunk) => {
        if (isSettled) return;
        chunks.push(chunk);
        bodyBytes += chunk.length;
        if (bodyBytes >= BODY_BYTES_MAX) settle(null, false);
      },
      onResponseEnd: () => settle(null, true),
      onResponseError: (_, error) => settle(error, false),
    },
  );
  return promise;
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorBody, Fault } from '@wts/contracts';
import { faultOfSqlState } from '../postgres/sqlstate.ts';
import { exchangeOf, isReceiving } from './exchange.ts';

/** A rest of a body up to this size is read to its end, so that the connection can be used again. */
const DRAINED_BYTES_MAX = 64 * 1024;
/** A longer rest is thrown away for this long, so that the client can read the answer before the connection ends. */
const LINGER_MS = 500;
const LINGER_BYTES_MAX = 1024 * 1024;

/** Headers a handler may have set for an answer that was then replaced by an error. */
const HEADERS_OF_CONTENT = ['content-encoding', 'content-disposition', 'etag', 'last-modified', 'transfer-encoding'];

/** Answers with JSON. The value is turned into text once, here. */
export function sendJson(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | number>> = {},
): void {
  const text = JSON.stringify(body);
  const isClosing = exchangeOf(req).http.isDraining();
  const lingers = isReceiving(req) && !(Number(req.headers['content-length']) <= DRAINED_BYTES_MAX);
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(isClosing || lingers ? { connection: 'close' } : {}),
    ...headers,
  });
  if (lingers) linger(req, res, text);
  else res.end(text);
}

/**
 * Sends the whole answer at once but ends the connection only when the client stopped sending, or soon. Ending it while
 * bytes wait unread makes the kernel reset the connection, and the client never sees the answer.
 */
function linger(req: IncomingMessage, res: ServerResponse, text: string): void {
  let bytes = 0;
  const end = (): void => {
    clearTimeout(timer);
    res.end();
    // What still arrives must not be read on and on.
    if (!req.complete) req.socket.destroySoon();
  };
  const timer = setTimeout(end, LINGER_MS);
  res.write(text);
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) end();
  });
  req.once('end', end);
  req.once('close', end);
  req.resume();
}

/** The one place a failure is turned into an answer. Keeps never.shapeless-error. */
export function answerFailure(error: unknown, req: IncomingMessage, res: ServerResponse): void {
  const exchange = exchangeOf(req);
  const fault = toFault(error);
  exchange.failure = fault;
  if (res.headersSent) {
    // Half an answer cannot be taken back; cutting it off tells the client that it is not whole.
    res.destroy();
    return;
  }
  for (const name of HEADERS_OF_CONTENT) res.removeHeader(name);
  // Some statuses may be kept by default, and what is not there now may be made in a moment.
  const headers = { 'cache-control': 'no-store', ...faultHeaders(fault) };
  sendJson(req, res, fault.status, errorBody(fault, exchange.requestId), headers);
}

/** Headers that go with a fault, also on answers written by hand. */
export function faultHeaders(fault: Fault): Record<string, string> {
  const retry = fault.retryAfterSeconds === undefined ? {} : { 'Retry-After': String(fault.retryAfterSeconds) };
  return { ...retry, ...fault.headers };
}

/** What anything thrown is told as. Keeps never.500-by-input. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  // The signal of the request: its client is gone, or it took too long.
  if (error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError')) {
    return new Fault('unavailable', { cause: error });
  }
  return faultOfSqlState(error) ?? new Fault('internal', { cause: error });
}

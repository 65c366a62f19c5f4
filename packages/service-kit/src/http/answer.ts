import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '@wts/contracts';
import { faultOfSqlState } from '../postgres/sqlstate.ts';
import { ClientClosedError } from './body.ts';
import { sendInPieces, type PiecemealOptions } from './client-connection.ts';
import { contextOf } from './request-context.ts';
import { renderFault } from './render-fault.ts';
import { closeWithLinger, hasLargeUnreadBody } from './unread-body.ts';

/** Headers that a handler may have set before it failed, which do not fit the body of an error. */
const HEADERS_OF_CONTENT = ['content-encoding', 'content-disposition', 'etag', 'last-modified', 'transfer-encoding'];

interface JsonReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Replies with JSON. */
export function sendJson(req: IncomingMessage, res: ServerResponse, { status, body, headers }: JsonReply): void {
  const text = JSON.stringify(body);
  sendText(req, res, { status, text, headers: { 'content-type': 'application/json', ...headers } });
}

interface TextReply {
  readonly status: number;
  readonly text: string;
  /** With the `content-type`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Replies with a whole text. */
export function sendText(req: IncomingMessage, res: ServerResponse, { text, ...head }: TextReply): void {
  writeHead(req, res, { ...head, length: Buffer.byteLength(text) });
  res.end(text);
}

interface BytesReply extends Pick<TextReply, 'status' | 'headers'> {
  readonly bytes: Buffer;
}

/** Replies with a long text at the pace of the client; resolves when it is sent or the client has disconnected. */
export async function sendBytes(
  req: IncomingMessage,
  res: ServerResponse,
  { bytes, stalledMs, ...head }: BytesReply & Pick<PiecemealOptions, 'stalledMs'>,
): Promise<void> {
  writeHead(req, res, { ...head, length: bytes.length });
  await sendInPieces(res, bytes, { stalledMs });
}

interface Head extends Pick<TextReply, 'status' | 'headers'> {
  readonly length: number;
}

function writeHead(req: IncomingMessage, res: ServerResponse, { status, length, headers }: Head): void {
  res.writeHead(status, {
    'content-length': length,
    ...(endsConnection(req) ? { connection: 'close' } : {}),
    ...headers,
  });
}

/** Whether this reply is the last one of its connection. */
function endsConnection(req: IncomingMessage): boolean {
  const isUnread = hasLargeUnreadBody(req);
  if (isUnread) closeWithLinger(req);
  return isUnread || contextOf(req).http.isDraining();
}

/** The one place that renders a failure. Keeps never.shapeless-error. */
export function answerFailure(error: unknown, req: IncomingMessage, res: ServerResponse): void {
  const context = contextOf(req);
  const fault = toFault(error);
  context.failure = fault;
  if (res.headersSent) {
    // The reply has begun; a closed connection shows the client that it is incomplete.
    res.destroy();
    return;
  }
  for (const name of HEADERS_OF_CONTENT) res.removeHeader(name);
  const { status, body, lines } = renderFault(fault, context.requestId);
  if (endsConnection(req)) lines.push('Connection', 'close');
  res.writeHead(status, lines).end(body);
}

/** The fault for anything that was thrown. Keeps never.500-by-input. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof ClientClosedError)
    return new Fault('malformed_request', { message: 'The body ended before it was complete.' });
  // The signal of the request: its client disconnected, or it took too long.
  if (error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError'))
    return new Fault('unavailable', { cause: error });
  return faultOfSqlState(error) ?? new Fault('internal', { cause: error });
}

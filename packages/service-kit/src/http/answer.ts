import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '@wts/contracts';
import { faultOfSqlState } from '../postgres/sqlstate.ts';
import { ClientClosedError } from './body.ts';
import { contextOf } from './request-context.ts';
import { renderFault } from './render-fault.ts';
import { closeWithLinger, hasLargeUnreadBody } from './unread-body.ts';

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
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(endsConnection(req) ? { connection: 'close' } : {}),
    ...headers,
  });
  res.end(text);
}

/** Whether this answer is the last of its connection. */
function endsConnection(req: IncomingMessage): boolean {
  const isAbandoned = hasLargeUnreadBody(req);
  if (isAbandoned) closeWithLinger(req);
  return isAbandoned || contextOf(req).http.isDraining();
}

/** The one place a failure is turned into an answer. Keeps never.shapeless-error. */
export function answerFailure(error: unknown, req: IncomingMessage, res: ServerResponse): void {
  const context = contextOf(req);
  const fault = toFault(error);
  context.failure = fault;
  if (res.headersSent) {
    // Half an answer cannot be taken back; cutting it off tells the client that it is not whole.
    res.destroy();
    return;
  }
  for (const name of HEADERS_OF_CONTENT) res.removeHeader(name);
  const { status, body, lines } = renderFault(fault, context.requestId);
  if (endsConnection(req)) lines.push('Connection', 'close');
  res.writeHead(status, lines).end(body);
}

/** What anything thrown is told as. Keeps never.500-by-input. */
export function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof ClientClosedError)
    return new Fault('malformed_request', { message: 'The body ended before it was complete.' });
  // The signal of the request: its client is gone, or it took too long.
  if (error instanceof DOMException && (error.name === 'AbortError' || error.name === 'TimeoutError')) {
    return new Fault('unavailable', { cause: error });
  }
  return faultOfSqlState(error) ?? new Fault('internal', { cause: error });
}

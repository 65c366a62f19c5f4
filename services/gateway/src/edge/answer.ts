import type { ServerResponse } from 'node:http';
import { ERRORS, Fault, errorBody } from '@wts/contracts';
import { EDGE_LIMITS } from '../limits.ts';
import type { Exchange } from './exchange.ts';

/** Writes the head of an answer: the lines every answer carries, then the given ones. */
export function startAnswer(exchange: Exchange, res: ServerResponse, status: number, lines: readonly string[]): void {
  const head = exchange.reply.concat(lines);
  const isAbandoned = leavesMuchUnread(exchange);
  if (isAbandoned || exchange.isLast) head.push('Connection', 'close');
  if (isAbandoned) closeGently(exchange);
  res.writeHead(status, head);
}

export function answerJson(
  exchange: Exchange,
  res: ServerResponse,
  status: number,
  body: Buffer,
  lines: readonly string[] = [],
): void {
  startAnswer(exchange, res, status, ['Content-Type', JSON_TYPE, 'Content-Length', String(body.length), ...lines]);
  res.end(body);
}

/**
 * The one rendering of a failure at this door. Once an answer has begun, cutting it off is all that is left to say.
 * Keeps errors.5xx.no-cause, errors.shape.everywhere.
 */
export function answerFault(exchange: Exchange, res: ServerResponse, failure: unknown): void {
  const { status, body, lines } = renderFault(exchange, failure);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  answerJson(exchange, res, status, body, lines);
}

export interface RenderedFault {
  readonly status: number;
  readonly body: Buffer;
  readonly lines: string[];
}

/**
 * Status, body and header lines of a failure; also used where there is no response object, at a refused upgrade.
 * Keeps errors.503.retry-after.
 */
export function renderFault(exchange: Exchange, failure: unknown): RenderedFault {
  const fault = failure instanceof Fault ? failure : new Fault('internal', { cause: failure });
  exchange.failure = fault;
  const body = errorBody(fault, exchange.requestId);
  const lines = ['Cache-Control', 'no-store'];
  for (const [name, value] of Object.entries(fault.headers)) lines.push(name, value);
  if (fault.retryAfterSeconds !== undefined) lines.push('Retry-After', String(fault.retryAfterSeconds));
  return { status: ERRORS[fault.code].status, body: Buffer.from(JSON.stringify(body)), lines };
}

export const JSON_TYPE = 'application/json';

/**
 * A little rest is read and dropped and the connection lives on; it does not for much, or for who knows how much. A body
 * that was held back and never asked for ends the connection too; Node sees to that.
 */
function leavesMuchUnread(exchange: Exchange): boolean {
  if (exchange.req.complete || !exchange.hasBody) return false;
  return exchange.headers.transferEncoding.length > 0 || exchange.declaredBytes > EDGE_LIMITS.droppedBytesMax;
}

/**
 * Closing a socket whose peer still sends makes the kernel answer with a reset, and a reset may overtake the answer we
 * just wrote. So the end of our side is sent first, the rest is read and dropped for a moment, and then it is cut.
 */
function closeGently({ req }: Exchange): void {
  const socket = req.socket;
  if (socket === null || socket.destroyed) return;
  socket.destroySoon = () => {
    socket.end();
    req.resume();
    setTimeout(() => socket.destroy(), EDGE_LIMITS.lingerMs);
  };
}

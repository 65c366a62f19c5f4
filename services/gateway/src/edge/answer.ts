import type { ServerResponse } from 'node:http';
import { Fault } from '@wts/contracts';
import { closeGently, leavesMuchUnread, renderFault } from '@wts/service-kit/http';
import type { FaultAnswer } from '@wts/service-kit/http';
import type { Exchange } from './exchange.ts';

/** Writes the head of an answer: the lines every answer carries, then the given ones. */
export function startAnswer(exchange: Exchange, res: ServerResponse, status: number, lines: readonly string[]): void {
  const head = exchange.reply.concat(lines);
  const isAbandoned = leavesMuchUnread(exchange.req);
  if (isAbandoned || exchange.isLast) head.push('Connection', 'close');
  if (isAbandoned) closeGently(exchange.req);
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
  const { status, body, lines } = faultAnswer(exchange, failure);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  startAnswer(exchange, res, status, lines);
  res.end(body);
}

/**
 * Status, body and header lines of a failure; also used where there is no response object, at a refused upgrade.
 * Keeps errors.503.retry-after.
 */
export function faultAnswer(exchange: Exchange, failure: unknown): FaultAnswer {
  const fault = failure instanceof Fault ? failure : new Fault('internal', { cause: failure });
  exchange.failure = fault;
  return renderFault(fault, exchange.requestId);
}

export const JSON_TYPE = 'application/json';

import type { ServerResponse } from 'node:http';
import { Fault } from '@wts/contracts';
import { closeWithLinger, hasLargeUnreadBody, renderFault, type RenderedFault } from '@wts/service-kit/http';
import type { RequestContext } from './request-context.ts';

/** Writes the status and the headers of an answer: those of every answer, then the given ones. */
export function startAnswer(
  context: RequestContext,
  res: ServerResponse,
  status: number,
  lines: readonly string[],
): void {
  const head = context.reply.concat(lines);
  const isAbandoned = hasLargeUnreadBody(context.req);
  if (isAbandoned || context.isLast) head.push('Connection', 'close');
  if (isAbandoned) closeWithLinger(context.req);
  res.writeHead(status, head);
}

export function answerJson(context: RequestContext, res: ServerResponse, body: Buffer, lines: readonly string[]): void {
  startAnswer(context, res, 200, ['Content-Type', JSON_TYPE, 'Content-Length', String(body.length), ...lines]);
  res.end(body);
}

/**
 * Answers a request with a failure. Closes the connection when the answer has begun, because its status is sent.
 * Keeps errors.5xx.no-cause, errors.shape.everywhere.
 */
export function answerFault(context: RequestContext, res: ServerResponse, failure: unknown): void {
  const { status, body, lines } = faultAnswer(context, failure);
  if (res.headersSent) {
    res.destroy();
    return;
  }
  startAnswer(context, res, status, lines);
  res.end(body);
}

/**
 * Status, body and headers of a failure; a refused upgrade, which has no response object, uses it too.
 * Keeps errors.503.retry-after.
 */
export function faultAnswer(context: RequestContext, failure: unknown): RenderedFault {
  const fault = failure instanceof Fault ? failure : new Fault('internal', { cause: failure });
  context.failure = fault;
  return renderFault(fault, context.requestId);
}

export const JSON_TYPE = 'application/json';

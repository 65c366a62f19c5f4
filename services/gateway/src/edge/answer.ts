import type { ServerResponse } from 'node:http';
import { Fault } from '@wts/contracts';
import { closeGently, leavesMuchUnread, renderFault } from '@wts/service-kit/http';
import type { FaultAnswer } from '@wts/service-kit/http';
import type { RequestContext } from './request-context.ts';

/** Writes the head of an answer: the lines every answer carries, then the given ones. */
export function startAnswer(
  context: RequestContext,
  res: ServerResponse,
  status: number,
  lines: readonly string[],
): void {
  const head = context.reply.concat(lines);
  const isAbandoned = leavesMuchUnread(context.req);
  if (isAbandoned || context.isLast) head.push('Connection', 'close');
  if (isAbandoned) closeGently(context.req);
  res.writeHead(status, head);
}

export function answerJson(
  context: RequestContext,
  res: ServerResponse,
  status: number,
  body: Buffer,
  lines: readonly string[] = [],
): void {
  startAnswer(context, res, status, ['Content-Type', JSON_TYPE, 'Content-Length', String(body.length), ...lines]);
  res.end(body);
}

/**
 * The one rendering of a failure at this door. Once an answer has begun, cutting it off is all that is left to say.
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
 * Status, body and header lines of a failure; also used where there is no response object, at a refused upgrade.
 * Keeps errors.503.retry-after.
 */
export function faultAnswer(context: RequestContext, failure: unknown): FaultAnswer {
  const fault = failure instanceof Fault ? failure : new Fault('internal', { cause: failure });
  context.failure = fault;
  return renderFault(fault, context.requestId);
}

export const JSON_TYPE = 'application/json';

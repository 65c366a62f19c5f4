import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type { ReadToken } from '@wts/access';
import { API_VERSION, Fault, HEADERS, LIMITS, REQUEST_ID_PATTERN, SUPPORTED_API_VERSIONS } from '@wts/contracts';
import type { NextFunction, Request, Response } from 'express';
import type { CallerNetworks } from '../fairness/index.ts';
import type { Logger } from '../observe/logger.ts';
import type { RequestMetrics } from '../observe/metrics.ts';
import { inSpan, startRequestSpan } from '../observe/tracing.ts';
import { faultOfHosts, faultOfTarget } from './check-target.ts';
import { recordRequest, type RequestDetails, type Route } from './record-request.ts';
import { originForm } from './target.ts';

/** The parts of a service that its HTTP side uses. */
export interface HttpOptions {
  readonly log: Logger;
  readonly readToken: ReadToken;
  readonly networks: CallerNetworks;
  readonly requests: RequestMetrics;
  /** Whether replies are checked against their contracts. */
  readonly checkReplies: boolean;
  /** While true, every reply closes its connection. */
  readonly isDraining: () => boolean;
  readonly bodies?: BodyAdmission;
}

/** Bounds the large bodies of each person, so that one caller leaves memory and time of the event loop for others. */
export interface BodyAdmission {
  /** Called before a body is received; it counts until it is parsed. Throws when the person has too much under way. */
  hold(person: string, bytes: number): Disposable;
  /** Waits for the person's turn to parse a body. */
  turn(person: string, bytes: number, signal: AbortSignal): Promise<Disposable>;
}

/** One request and its reply, from the first middleware to the log line. */
export interface RequestContext {
  readonly http: HttpOptions;
  readonly requestId: string;
  readonly startedAt: number;
  /** The contract that serves it, by which metrics and logs are grouped. */
  route: Route | null;
  userId: string | undefined;
  /** The fault of the reply, for the log. */
  failure: Fault | null;
  /** What the service adds to the log line. */
  details: RequestDetails | null;
  readonly span: Span | null;
}

const slot = Symbol('request context');
const wellFormedId = new RegExp(REQUEST_ID_PATTERN);

export function contextOf(req: IncomingMessage): RequestContext {
  const context = (req as { [slot]?: RequestContext })[slot];
  if (context === undefined) throw new Error('The route is not mounted on an app made by createApp.');
  return context;
}

/** For the log line of a request: what the service adds to it, and a fault of a reply that is not an error. */
export function noteRequest(
  req: IncomingMessage,
  { details, failure }: Pick<RequestContext, 'details' | 'failure'>,
): void {
  const context = contextOf(req);
  context.details = details;
  context.failure = failure;
}

export function requestIdOf(req: IncomingMessage): string {
  return chooseRequestId(String(req.headers[HEADERS.requestId] ?? ''));
}

/** Keeps an id that the caller chose when it is well formed, so that the caller finds the request in the logs. */
export function chooseRequestId(given: string): string {
  return wellFormedId.test(given) ? given : randomUUID();
}

/**
 * The only middleware: sets the request id and the headers of every reply, refuses invalid messages, and records the request when
 * the reply has ended or the client disconnected.
 */
export function enter(http: HttpOptions): (req: Request, res: Response, next: NextFunction) => void {
  return (req, res, next) => {
    const context: RequestContext = {
      http,
      requestId: requestIdOf(req),
      startedAt: performance.now(),
      route: null,
      userId: undefined,
      failure: null,
      details: null,
      span: startRequestSpan(req.headers, req.method),
    };
    (req as { [slot]?: RequestContext })[slot] = context;
    res.setHeader('Api-Version', API_VERSION);
    res.setHeader('X-Request-Id', context.requestId);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.once('close', () => finish(context, req, res));
    req.originalUrl = req.url = originForm(req.url, req.headers.host);
    const proceed = (): void => {
      const fault = checkMessage(req);
      if (fault === null) next();
      else next(fault);
    };
    if (context.span === null) return proceed();
    return inSpan(context.span, proceed);
  };
}

/** The fault of a message of any route and sender; null when it is valid. */
export function checkMessage(req: IncomingMessage): Fault | null {
  const url = req.url ?? '';
  const version = req.headers[HEADERS.apiVersion];
  if (version !== undefined && !SUPPORTED_API_VERSIONS.includes(version as string)) {
    return new Fault('unsupported_api_version', {
      message: `Api-Version must be one of: ${SUPPORTED_API_VERSIONS.join(', ')}.`,
    });
  }
  if (req.rawHeaders.length > LIMITS.headerCount * 2) return new Fault('headers_too_large');
  const fault =
    faultOfHosts(timesGiven(req.rawHeaders, 'host'), req.httpVersion) ?? faultOfTarget(url, req.method ?? '');
  return fault ?? faultOfQuery(url);
}

/** How many lines a header has. Of most headers given twice, Node drops all but the first. */
export function timesGiven(rawHeaders: readonly string[], lowerName: string): number {
  let times = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === lowerName.length && name.toLowerCase() === lowerName) times += 1;
  }
  return times;
}

function faultOfQuery(url: string): Fault | null {
  const start = url.indexOf('?');
  if (start === -1 || !url.includes('%', start)) return null;
  try {
    decodeURIComponent(url.slice(start));
    return null;
  } catch {
    return new Fault('malformed_request', { message: 'The query is not valid percent-encoded UTF-8.' });
  }
}

function finish(context: RequestContext, req: Request, res: Response): void {
  const { http, route, requestId, startedAt, userId, failure, details, span } = context;
  recordRequest(http, {
    method: req.method,
    route,
    status: res.statusCode,
    startedAt,
    requestId,
    userId,
    failure,
    details,
    span,
    isComplete: res.writableFinished,
    path: req.originalUrl.split('?', 1)[0] ?? '',
  });
}

import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type { ReadToken } from '@wts/access';
import { API_VERSION, Fault, HEADERS, LIMITS, REQUEST_ID_PATTERN, SUPPORTED_API_VERSIONS } from '@wts/contracts';
import type { NextFunction, Request, Response } from 'express';
import type { Logger } from '../observe/logger.ts';
import type { RequestMetrics } from '../observe/metrics.ts';
import { strayPath } from '../observe/scrub.ts';
import { endRequestSpan, isTracing, traceRequest } from '../observe/tracing.ts';
import { originForm } from './target.ts';

/** What the HTTP side of a service needs to know of the service. */
export interface HttpOptions {
  readonly log: Logger;
  readonly readToken: ReadToken;
  readonly requests: RequestMetrics;
  /** Whether answers are checked against their contracts. */
  readonly checkReplies: boolean;
  /** While true, every answer closes its connection. */
  readonly isDraining: () => boolean;
  readonly bodies?: BodyTurns;
  /** Called with the person of each request. */
  readonly onPerson?: (person: string) => void;
}

/** How a service lets large bodies in, so that one caller does not take its memory and its event loop from the others. */
export interface BodyTurns {
  /** Before it is received: it counts as this person's until it is parsed. Throws when they have too much under way. */
  hold(person: string, bytes: number): Disposable;
  /** Before it is parsed. */
  turn(person: string, bytes: number, signal: AbortSignal): Promise<Disposable>;
}

/** One request and its answer, from the first middleware to the log line. */
export interface Exchange {
  readonly http: HttpOptions;
  readonly requestId: string;
  readonly startedAt: number;
  /** Id of the contract that answers; what metrics and logs group by. */
  route: string;
  userId: string | undefined;
  /** What was answered as an error: for the log. */
  failure: Fault | undefined;
  span: Span | undefined;
}

const slot = Symbol('exchange');
const wellFormedId = new RegExp(REQUEST_ID_PATTERN);
/** Requests of probes: logged at debug, else they would be most of the log. */
const PROBES: readonly string[] = ['health', 'ready'];

export function exchangeOf(req: IncomingMessage): Exchange {
  const exchange = (req as { [slot]?: Exchange })[slot];
  if (exchange === undefined) throw new Error('The route is not mounted on an app made by createApp.');
  return exchange;
}

/** The caller's id of the request when it is well formed, else a new one. */
export function requestIdOf(req: IncomingMessage): string {
  const given = req.headers[HEADERS.requestId];
  return typeof given === 'string' && wellFormedId.test(given) ? given : randomUUID();
}

/**
 * The first and only middleware: gives the request its id, puts the two headers of every answer on, refuses what no route
 * may see, and writes the log line and the metric when the answer is done or the client is gone.
 */
export function enter(http: HttpOptions): (req: Request, res: Response, next: NextFunction) => void {
  return (req, res, next) => {
    const exchange: Exchange = {
      http,
      requestId: requestIdOf(req),
      startedAt: performance.now(),
      route: 'unmatched',
      userId: undefined,
      failure: undefined,
      span: undefined,
    };
    (req as { [slot]?: Exchange })[slot] = exchange;
    res.setHeader('Api-Version', API_VERSION);
    res.setHeader('X-Request-Id', exchange.requestId);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.once('close', () => finish(exchange, req, res));
    req.originalUrl = req.url = originForm(req.url, req.headers.host);
    const proceed = (): void => {
      const fault = checkMessage(req);
      if (fault === null) next();
      else next(fault);
    };
    if (!isTracing()) return proceed();
    return traceRequest(req.headers, req.method, (span) => {
      exchange.span = span;
      proceed();
    });
  };
}

/** What is wrong with the message itself, whoever sends it and wherever to. */
export function checkMessage(req: IncomingMessage): Fault | null {
  const url = req.url ?? '';
  const version = req.headers[HEADERS.apiVersion];
  if (version !== undefined && !SUPPORTED_API_VERSIONS.includes(version as string)) {
    return new Fault('unsupported_api_version', {
      message: `This server serves Api-Version ${SUPPORTED_API_VERSIONS.join(', ')}.`,
    });
  }
  if (req.rawHeaders.length > LIMITS.headerCount * 2) return new Fault('headers_too_large');
  const hosts = timesGiven(req.rawHeaders, 'host');
  if (hosts > 1 || (hosts === 0 && req.httpVersion === '1.1')) return malformed('A request needs exactly one Host.');
  if (url.length > LIMITS.urlBytes) return malformed(`An address may have at most ${LIMITS.urlBytes} characters.`);
  if (url[0] !== '/' && !(url === '*' && req.method === 'OPTIONS')) return malformed('An address starts with a slash.');
  return url.includes('%') ? checkEscapes(url) : null;
}

/** How many lines a header has. Of most that are given twice, Node itself drops all but the first. */
export function timesGiven(rawHeaders: readonly string[], lowerName: string): number {
  let times = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === lowerName.length && name.toLowerCase() === lowerName) times += 1;
  }
  return times;
}

/**
 * A path that means something else once it is decoded is refused, because two readers of it (a gateway and a service)
 * could disagree on where it leads.
 */
function checkEscapes(url: string): Fault | null {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
    decodeURIComponent(url.slice(path.length));
  } catch {
    return malformed('The address holds an escape that is not UTF-8.');
  }
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/%2f|%5c/i.test(path) || /[\u0000-\u001f\u007f]|\/\.{1,2}(?:\/|$)/.test(decoded)) {
    return malformed('The path holds an encoded slash, dot segment or control character.');
  }
  return null;
}

function malformed(message: string): Fault {
  return new Fault('malformed_request', { message });
}

function finish(exchange: Exchange, req: Request, res: Response): void {
  const { http, route, requestId, userId, failure } = exchange;
  const durationMs = performance.now() - exchange.startedAt;
  const status = res.statusCode;
  http.requests.observe(route, req.method, status, durationMs / 1000);
  if (exchange.span !== undefined) endRequestSpan(exchange.span, route, req.method, status);
  const line = {
    method: req.method,
    route,
    status,
    durationMs: Math.round(durationMs * 1000) / 1000,
    requestId,
    userId,
    code: failure?.code,
    // Set when the client left before it had the whole answer.
    aborted: res.writableFinished ? undefined : true,
    path: route === 'unmatched' ? strayPath(pathOf(req)) : undefined,
  };
  if (failure !== undefined && status >= 500) {
    const cause: unknown = failure.cause;
    // A dependency that is down comes back by itself; a bug does not.
    if (failure.code === 'unavailable')
      http.log[PROBES.includes(route) ? 'debug' : 'warn']({ ...line, err: cause }, 'request');
    else http.log.error({ ...line, err: cause ?? failure }, 'request');
  } else {
    http.log[PROBES.includes(route) ? 'debug' : 'info'](line, 'request');
  }
}

/** The path alone: queries hold tokens. */
function pathOf(req: Request): string {
  return req.originalUrl.split('?', 1)[0] ?? '';
}

/** RFC 9112 section 6.3: without either header a request has no body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** True while the client has more to send. */
export function isReceiving(req: IncomingMessage): boolean {
  return !req.complete && hasBody(req);
}

import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { Fault, HEADERS } from '@wts/contracts';
import type { Address, CallOutcome } from '@wts/service-kit/call';
import { ClientClosedError, sizeOf } from '@wts/service-kit/http';
import { headerOf } from '@wts/service-kit/observe';
import { errors, type Dispatcher } from 'undici';
import type { Upstream } from '../upstream.ts';
import { answerFault, startAnswer } from './answer.ts';
import type { CompleteBody } from './bound-body.ts';
import type { RequestContext } from './request-context.ts';

/** What is sent to a service, and where its response goes. */
interface ForwardOptions {
  readonly context: RequestContext;
  readonly res: ServerResponse;
  readonly upstream: Upstream;
  readonly body: CompleteBody | null;
  /** Header lines that name the caller. */
  readonly caller: readonly string[];
  /** The cookies of the client are for this service, and it may set some. */
  readonly hasCookies: boolean;
  /** The service authenticates the client, or the operator, by the Authorization header. */
  readonly hasClient: boolean;
  readonly clientStalledMs: number;
}

/**
 * Sends a request, whose body is complete, to its service and streams the response to the client. A slow client pauses the
 * service, and a disconnect of either ends the other. The gateway tries another address when it sent no byte of the request,
 * because only then nothing can have happened; a GET, which changes nothing, also when the first address does not respond.
 * Keeps errors.503.retry-after.
 */
export function forward(options: ForwardOptions): void {
  const { res, upstream } = options;
  // The client disconnected during authentication: `close` was emitted already.
  if (res.closed) return;
  upstream.enter();
  const request = new UpstreamRequest(options);
  res.once('close', () => request.clientClosed());
  request.dispatch();
}

/** The safe methods (RFC 9110 section 9.2.1) that routes have: they may be sent twice. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

class UpstreamRequest implements Dispatcher.DispatchHandler {
  readonly #context: RequestContext;
  readonly #res: ServerResponse;
  readonly #upstream: Upstream;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #clientStalledMs: number;
  readonly #hasCookies: boolean;
  #target: Address | null = null;
  #end: (outcome: CallOutcome) => void = () => undefined;
  #isUnresponsive = false;
  #tried: Set<Address> | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #isClosed = false;
  #isReleased = false;
  #waitsForDrain = false;
  #stalled: NodeJS.Timeout | undefined;

  constructor(options: ForwardOptions) {
    const { context, res, upstream, body, hasCookies, clientStalledMs } = options;
    this.#context = context;
    this.#res = res;
    this.#upstream = upstream;
    this.#clientStalledMs = clientStalledMs;
    this.#hasCookies = hasCookies;
    this.#options = {
      method: context.method,
      path: context.url,
      headers: requestHeaders(options),
      // The types of undici lack the iterables that it sends.
      body: body as Uint8Array | Readable | null,
      // Without this, undici closes the connection after each HEAD. Our services send no body to HEAD.
      reset: false,
    };
  }

  dispatch(): void {
    const target = this.#upstream.pick(this.#tried);
    if (target === null) {
      this.#fail(new Fault('unavailable'), 'unreachable');
      return;
    }
    this.#target = target;
    this.#end = this.#upstream.begin(target, SAFE.has(this.#options.method) ? () => this.#abandonAddress() : undefined);
    target.pool.dispatch(this.#options, this);
  }

  /** The address does not respond: a request without a response is sent to another one. */
  #abandonAddress(): void {
    if (this.#res.headersSent || this.#isClosed) return;
    this.#isUnresponsive = true;
    this.#controller?.abort(new Error('the address does not respond'));
  }

  clientClosed(): void {
    this.#isClosed = true;
    this.#release('cancelled');
    clearTimeout(this.#stalled);
    if (!this.#res.writableFinished) this.#controller?.abort(new ClientClosedError());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isClosed) controller.abort(new ClientClosedError());
    // The request waited for a connection when the address stopped responding.
    else if (this.#isUnresponsive) controller.abort(new Error('the address did not respond'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ReplyHeaders): void {
    // Informational responses are for this hop only.
    if (status < 200) return;
    this.#upstream.answered(this.#target as Address);
    // Only the gateway checks credentials of callers. A service that refuses the internal token is no fault of the caller.
    if (status === 401 && this.#context.principal !== null) {
      controller.abort(new Error(`${this.#upstream.name} refused the internal token`));
      return;
    }
    startAnswer(this.#context, this.#res, status, responseHeaders(headers, this.#hasCookies));
    // A stream may wait for its first row; the client gets the status before it.
    if (headers['content-length'] === undefined) this.#res.flushHeaders();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#res.write(chunk) || this.#waitsForDrain) return;
    this.#waitsForDrain = true;
    controller.pause();
    this.#stalled = setTimeout(() => this.#res.destroy(), this.#clientStalledMs);
    this.#res.once('drain', () => {
      clearTimeout(this.#stalled);
      this.#waitsForDrain = false;
      controller.resume();
    });
  }

  onResponseEnd(): void {
    this.#release(this.#res.statusCode >= 500 ? 'failed' : 'answered');
    this.#res.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isClosed) return;
    const target = this.#target as Address;
    // An address that accepts connections and sends nothing is as bad as one that refuses them.
    if (error instanceof errors.HeadersTimeoutError) this.#upstream.failed(target, error);
    // Without a controller there was no connection: nothing was sent, and another address may work.
    const wasSent = this.#controller !== null;
    if ((wasSent && !this.#isUnresponsive) || error instanceof errors.InvalidArgumentError) {
      this.#fail(error, error instanceof errors.HeadersTimeoutError ? 'overdue' : 'cut');
      return;
    }
    if (!wasSent) this.#upstream.failed(target, error);
    this.#end(wasSent ? 'overdue' : 'unreachable');
    this.#isUnresponsive = false;
    this.#controller = null;
    this.#tried = (this.#tried ?? new Set()).add(target);
    this.dispatch();
  }

  #fail(error: Error, outcome: CallOutcome): void {
    this.#release(outcome);
    answerFault(this.#context, this.#res, faultOf(error));
  }

  /** Frees the place at the service; a client that reads the last bytes slowly must not hold it. */
  #release(outcome: CallOutcome): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#end(outcome);
    this.#upstream.leave();
  }
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

function faultOf(error: Error): Fault {
  if (error instanceof Fault) return error;
  // The parser accepted a header that undici refuses to send.
  if (error instanceof errors.InvalidArgumentError) return new Fault('malformed_request', { cause: error });
  return new Fault('unavailable', { cause: error });
}

function requestHeaders({ context, body, caller, hasCookies, hasClient }: ForwardOptions): string[] {
  const { headers, requestId } = context;
  const lines = headers.onward;
  lines.push(HEADERS.requestId, requestId, ...caller);
  if (body !== null && !(body instanceof Uint8Array)) lines.push('content-length', String(sizeOf(body)));
  if (hasCookies) {
    for (const cookies of headers.cookies) lines.push('cookie', cookies);
    // A page judges by them where a form comes from.
    for (const origin of headers.origin) lines.push('origin', origin);
    for (const site of headers.fetchSite) lines.push('sec-fetch-site', site);
  }
  if (hasClient) for (const value of headers.authorization) lines.push('authorization', value);
  if (context.span !== null) lines.push('traceparent', headerOf(context.span));
  return lines;
}

/** Headers of this hop, and headers that only the gateway sets. */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'server',
  'x-powered-by',
  'x-content-type-options',
  'strict-transport-security',
  HEADERS.apiVersion,
  HEADERS.requestId,
  HEADERS.principal,
  HEADERS.network,
  HEADERS.shard,
]);

function responseHeaders(headers: ReplyHeaders, hasCookies: boolean): string[] {
  const lines: string[] = [];
  const named = typeof headers.connection === 'string' ? headers.connection.toLowerCase() : '';
  const hasNamed = named !== '' && named !== 'keep-alive' && named !== 'close';
  for (const name in headers) {
    if (NOT_FORWARDED.has(name) || name.startsWith('access-control-')) continue;
    if (name === 'set-cookie' && !hasCookies) continue;
    if (hasNamed && named.split(',').some((option) => option.trim() === name)) continue;
    const value = headers[name];
    if (typeof value === 'string') lines.push(name, value);
    else if (value !== undefined) for (const one of value) lines.push(name, one);
  }
  return lines;
}

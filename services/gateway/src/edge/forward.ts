import type { ServerResponse } from 'node:http';
import { Fault, HEADERS } from '@wts/contracts';
import type { Address } from '@wts/service-kit/call';
import { ClientGone } from '@wts/service-kit/http';
import { carryTrace, isTracing } from '@wts/service-kit/observe';
import type { Dispatcher } from 'undici';
import { errors } from 'undici';
import type { Upstream } from '../upstream.ts';
import { answerFault, startAnswer } from './answer.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Sends a whole request to its service and streams the answer back: bytes are passed on as they come, a slow side holds
 * the other, and whoever leaves ends both. A request is tried at another address when no byte of it was sent, because only
 * then is it certain that nothing happened; a GET, which changes nothing, also when the first address shows no sign of life.
 * Keeps errors.503.retry-after.
 */
export function forward(
  context: RequestContext,
  res: ServerResponse,
  upstream: Upstream,
  body: Buffer | null,
  internalToken: string | null,
  clientStalledMs: number,
): void {
  // The client left while it was asked who it is; its `close` has been and will not come again.
  if (res.closed) return;
  upstream.enter();
  const passage = new Passage(context, res, upstream, body, internalToken, clientStalledMs);
  res.once('close', () => passage.clientClosed());
  passage.dispatch();
}

/** RFC 9110 section 9.2.1, as far as any route has them: asking twice is asking once. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

class Passage implements Dispatcher.DispatchHandler {
  readonly #context: RequestContext;
  readonly #res: ServerResponse;
  readonly #upstream: Upstream;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #clientStalledMs: number;
  #target: Address | null = null;
  #end: () => void = () => undefined;
  #isLost = false;
  #tried: Set<Address> | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #isClosed = false;
  #hasLeft = false;
  #waitsForDrain = false;
  #stalled: NodeJS.Timeout | undefined;

  constructor(
    context: RequestContext,
    res: ServerResponse,
    upstream: Upstream,
    body: Buffer | null,
    internalToken: string | null,
    clientStalledMs: number,
  ) {
    this.#context = context;
    this.#res = res;
    this.#upstream = upstream;
    this.#clientStalledMs = clientStalledMs;
    this.#options = {
      method: context.method,
      path: context.url,
      headers: onwardHeaders(context, internalToken),
      body,
      // HEAD would cost a connection each time; our services are known to send no body.
      reset: false,
    };
  }

  dispatch(): void {
    const target = this.#upstream.pick(this.#tried);
    if (target === null) {
      this.#fail(new Fault('unavailable'));
      return;
    }
    this.#target = target;
    this.#end = this.#upstream.begin(target, SAFE.has(this.#options.method) ? () => this.#lose() : undefined);
    target.pool.dispatch(this.#options, this);
  }

  /** The address hangs: what has not been answered there is asked for elsewhere. */
  #lose(): void {
    if (this.#res.headersSent || this.#isClosed) return;
    this.#isLost = true;
    this.#controller?.abort(new Error('it shows no sign of life'));
  }

  clientClosed(): void {
    this.#isClosed = true;
    this.#leave();
    clearTimeout(this.#stalled);
    if (!this.#res.writableFinished) this.#controller?.abort(new ClientGone());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isClosed) controller.abort(new ClientGone());
    // It waited for a connection while the address was found to hang.
    else if (this.#isLost) controller.abort(new Error('it showed no sign of life'));
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ReplyHeaders): void {
    // Informational answers are between the service and us.
    if (status < 200) return;
    this.#upstream.answered(this.#target as Address);
    // Credentials are judged here alone. A service that does not believe us is not the caller's fault.
    if (status === 401 && this.#context.principal !== null) {
      controller.abort(new Error(`${this.#upstream.name} refused the internal token`));
      return;
    }
    startAnswer(this.#context, this.#res, status, backwardHeaders(headers));
    // A stream may wait for its first row; the client should know by now that it comes.
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
    this.#leave();
    this.#res.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#isClosed) return;
    const target = this.#target as Address;
    // An address that accepts connections and says nothing is no better than one that refuses them.
    if (error instanceof errors.HeadersTimeoutError) this.#upstream.failed(target, error);
    // No controller, no connection: nothing was sent, and another address may be better.
    const wasSent = this.#controller !== null;
    if ((wasSent && !this.#isLost) || error instanceof errors.InvalidArgumentError) {
      this.#fail(error);
      return;
    }
    if (!wasSent) this.#upstream.failed(target, error);
    this.#end();
    this.#isLost = false;
    this.#controller = null;
    this.#tried = (this.#tried ?? new Set()).add(target);
    this.dispatch();
  }

  #fail(error: Error): void {
    this.#leave();
    answerFault(this.#context, this.#res, faultOf(error));
  }

  /** Gives the place at the service back; a client that is slow to take the last bytes must not hold it. */
  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#end();
    this.#upstream.leave();
  }
}

type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>;

function faultOf(error: Error): Fault {
  if (error instanceof Fault) return error;
  // The parser let a header through that must not be written again.
  if (error instanceof errors.InvalidArgumentError) return new Fault('malformed_request', { cause: error });
  return new Fault('unavailable', { cause: error });
}

function onwardHeaders({ headers, requestId }: RequestContext, token: string | null): string[] {
  const lines = headers.onward;
  lines.push(HEADERS.requestId, requestId);
  if (isTracing()) replaceTrace(lines);
  if (token !== null) lines.push(HEADERS.principal, token);
  return lines;
}

/** The service's span is a child of ours, whose parent is the client's. */
function replaceTrace(lines: string[]): void {
  for (let at = lines.length - 2; at >= 0; at -= 2) {
    if (lines[at] === 'traceparent' || lines[at] === 'tracestate') lines.splice(at, 2);
  }
  const trace: Record<string, string> = {};
  carryTrace(trace);
  for (const name in trace) lines.push(name, trace[name] as string);
}

/** Lines that end at this hop, and lines the gateway alone decides on. */
const KEPT_BACK = new Set([
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
]);

function backwardHeaders(headers: ReplyHeaders): string[] {
  const lines: string[] = [];
  const named = typeof headers.connection === 'string' ? headers.connection.toLowerCase() : '';
  const hasNamed = named !== '' && named !== 'keep-alive' && named !== 'close';
  for (const name in headers) {
    if (KEPT_BACK.has(name) || name.startsWith('access-control-')) continue;
    if (hasNamed && named.split(',').some((option) => option.trim() === name)) continue;
    const value = headers[name];
    if (typeof value === 'string') lines.push(name, value);
    else if (value !== undefined) for (const one of value) lines.push(name, one);
  }
  return lines;
}

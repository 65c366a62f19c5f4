import type { Dispatcher } from 'undici';
import { activeTrace, endSpan, headerOf, startSpan } from '../observe/tracing.ts';
import type { Address } from './address.ts';

export interface Outgoing {
  /** The service that is called, and the path of the contract, without values: for the trace. */
  readonly to: string;
  readonly route: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly signal: AbortSignal | undefined;
}

export interface ServiceReply {
  readonly status: number;
  readonly body: string;
}

/** A reply between services is a page of data at most; more is a fault, and must not fill the memory. */
const REPLY_BYTES_MAX = 32 * 1024 * 1024;

/**
 * One request, with one deadline over all of it: waiting for a connection, connecting, sending, every byte of the reply.
 * (undici's own timeouts start again with each byte.) `deadlineMs` is on the clock of `performance.now()`. Rejects with
 * the error of undici, a TimeoutError, or an AbortError when the caller cancelled.
 */
export async function dispatch(address: Address, outgoing: Outgoing, deadlineMs: number): Promise<ServiceReply> {
  return activeTrace() === null ? send(address, outgoing, deadlineMs) : sendTraced(address, outgoing, deadlineMs);
}

async function sendTraced(address: Address, outgoing: Outgoing, deadlineMs: number): Promise<ServiceReply> {
  const { origin } = address;
  const { to, route, method, headers } = outgoing;
  const span = startSpan(`${method} ${route}`, 'CLIENT', {
    'peer.service': to,
    'http.request.method': method,
    'url.template': route,
    'url.scheme': origin.protocol.slice(0, -1),
    'server.address': origin.hostname,
    'server.port': Number(origin.port || (origin.protocol === 'https:' ? 443 : 80)),
  });
  const traced = span === null ? outgoing : { ...outgoing, headers: { ...headers, traceparent: headerOf(span) } };
  try {
    const reply = await send(address, traced, deadlineMs);
    const failure = reply.status < 400 ? undefined : { code: String(reply.status) };
    endSpan(span, failure, { 'http.response.status_code': reply.status });
    return reply;
  } catch (failure) {
    endSpan(span, failure);
    throw failure;
  }
}

async function send({ pool }: Address, outgoing: Outgoing, deadlineMs: number): Promise<ServiceReply> {
  const exchange = new ClientExchange(outgoing.signal, deadlineMs);
  try {
    if (!exchange.isOver) {
      const { method, path, headers, body } = outgoing;
      pool.dispatch({ method, path, headers, body }, exchange);
    }
    return await exchange.reply;
  } finally {
    exchange.release();
  }
}

class ClientExchange implements Dispatcher.DispatchHandler {
  readonly reply: Promise<ServiceReply>;
  isOver = false;
  readonly #resolve: (reply: ServiceReply) => void;
  readonly #reject: (reason: Error) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #bytes = 0;
  #chunks: Buffer[] = [];

  constructor(signal: AbortSignal | undefined, deadlineMs: number) {
    const { promise, resolve, reject } = Promise.withResolvers<ServiceReply>();
    this.reply = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    this.#timer = setTimeout(this.#onDeadline, Math.max(0, deadlineMs - performance.now()));
    if (signal?.aborted === true) this.#onCancel();
    else signal?.addEventListener('abort', this.#onCancel, { once: true });
  }

  release(): void {
    this.isOver = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onCancel);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The call ended while it waited for a connection.
    if (this.isOver) controller.abort(new DOMException('The call has ended.', 'AbortError'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > REPLY_BYTES_MAX) this.#fail(new Error('The reply is too large.'));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#resolve({ status: this.#status, body: Buffer.concat(this.#chunks, this.#bytes).toString('utf8') });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }

  readonly #onDeadline = (): void => this.#fail(new DOMException('The deadline has passed.', 'TimeoutError'));
  readonly #onCancel = (): void => this.#fail(new DOMException('The caller cancelled.', 'AbortError'));

  #fail(reason: Error): void {
    this.isOver = true;
    this.#chunks = [];
    this.#reject(reason);
    this.#controller?.abort(reason);
  }
}

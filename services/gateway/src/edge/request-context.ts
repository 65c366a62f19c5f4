import type { IncomingMessage } from 'node:http';
import { API_VERSION, type Fault, type Principal } from '@wts/contracts';
import { chooseRequestId, originForm } from '@wts/service-kit/http';
import type { Span } from '@wts/service-kit/observe';
import { networkOf, type AddressReader } from '../client-address.ts';
import { readHeaders, type RequestHeaders } from './read-headers.ts';
import type { CompiledRoute } from './route-table.ts';

interface ContextParts {
  readonly securityHeaders: readonly string[];
  readonly addressOf: AddressReader;
}

/**
 * One request in the edge, with what the steps have found out so far.
 * Keeps errors.request-id.returned, versioning.response.always.
 */
export class RequestContext {
  readonly req: IncomingMessage;
  readonly requestId: string;
  readonly startedAt: number;
  readonly headers: RequestHeaders;
  /** The remote address, read before the connection can close. */
  readonly peer: string | undefined;
  /** The address of the client, also behind a proxy. */
  readonly client: string;
  /** The network of the client, which counts as its caller before authentication. */
  readonly network: string;
  readonly method: string;
  /** The target as sent, in origin form. `path` and `query` (empty, or with its question mark) are its two parts, undecoded. */
  readonly url: string;
  readonly path: string;
  readonly query: string;
  /** Headers of every answer to this request: name, value, name, value. */
  readonly reply: string[];
  route: CompiledRoute | null = null;
  principal: Principal | null = null;
  /** True while the client waits for `100 Continue` before it sends the body (RFC 9110 section 10.1.1). */
  awaitsContinue: boolean;
  /** True once the process stops: the answer is the last one on its connection. */
  isLast = false;
  /** The error that was answered, for the log. */
  failure: Fault | null = null;
  span: Span | null = null;

  constructor(req: IncomingMessage, { securityHeaders, addressOf }: ContextParts) {
    this.req = req;
    this.startedAt = performance.now();
    this.headers = readHeaders(req.rawHeaders);
    this.peer = req.socket.remoteAddress;
    this.client = addressOf(this.peer, this.headers.forwardedFor);
    this.network = networkOf(this.client);
    this.method = req.method ?? '';
    this.url = originForm(req.url ?? '', this.headers.hosts.length === 1 ? this.headers.hosts[0] : undefined);
    const question = this.url.indexOf('?');
    this.path = question === -1 ? this.url : this.url.slice(0, question);
    this.query = question === -1 ? '' : this.url.slice(question);
    this.requestId = chooseRequestId(this.headers.requestId.join());
    this.awaitsContinue = this.headers.expect.length > 0 && req.httpVersionMinor > 0;
    this.reply = ['X-Request-Id', this.requestId, 'Api-Version', API_VERSION, ...securityHeaders];
  }

  get hasBody(): boolean {
    return this.headers.transferEncoding.length > 0 || this.declaredBytes > 0;
  }

  /** `Content-Length`; 0 when absent. Node's parser refuses anything that is not digits. */
  get declaredBytes(): number {
    return Number(this.headers.contentLength[0] ?? 0);
  }
}

/** Headers that stop browsers from guessing content types; HSTS only for https addresses (RFC 6797 section 7.2). */
export function securityHeaders(origin: URL): readonly string[] {
  const lines = ['X-Content-Type-Options', 'nosniff'];
  if (origin.protocol === 'https:') lines.push('Strict-Transport-Security', 'max-age=31536000');
  return lines;
}

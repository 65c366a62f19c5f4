import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { API_VERSION, REQUEST_ID_PATTERN } from '@wts/contracts';
import type { Fault, Principal } from '@wts/contracts';
import { originForm } from '@wts/service-kit/http';
import type { endRequestSpan } from '@wts/service-kit/observe';
import { readHeaders } from './read-headers.ts';
import type { RequestHeaders } from './read-headers.ts';
import type { CompiledRoute } from './route-table.ts';

type Span = Parameters<typeof endRequestSpan>[0];

/**
 * One request on its way through the edge, and what the steps have found out about it so far.
 * Keeps errors.request-id.returned, versioning.response.always.
 */
export class RequestContext {
  readonly req: IncomingMessage;
  readonly requestId: string;
  readonly startedAt: number;
  readonly headers: RequestHeaders;
  /** The other end of the connection, read while there is one. */
  readonly peer: string | undefined;
  readonly method: string;
  /** As sent, without the address of our own that may stand before it. `path` and `query` (with its question mark, or empty) are its two halves, undecoded. */
  readonly url: string;
  readonly path: string;
  readonly query: string;
  /** Header lines every answer to this request carries, in the flat form Node writes. */
  readonly reply: string[];
  route: CompiledRoute | null = null;
  principal: Principal | null = null;
  /** True while the client holds its body back until we ask for it (RFC 9110 section 10.1.1). */
  awaitsContinue: boolean;
  /** True once the process stops: the answer is the last one on its connection. */
  isLast = false;
  /** What was answered as an error, for the log. */
  failure: Fault | null = null;
  span: Span | null = null;

  constructor(req: IncomingMessage, securityHeaders: readonly string[]) {
    this.req = req;
    this.startedAt = performance.now();
    this.headers = readHeaders(req.rawHeaders);
    this.peer = req.socket.remoteAddress;
    this.method = req.method ?? '';
    this.url = originForm(req.url ?? '', this.headers.hosts.length === 1 ? this.headers.hosts[0] : undefined);
    const question = this.url.indexOf('?');
    this.path = question === -1 ? this.url : this.url.slice(0, question);
    this.query = question === -1 ? '' : this.url.slice(question);
    this.requestId = chooseRequestId(this.headers.requestId);
    this.awaitsContinue = this.headers.expect.length > 0 && req.httpVersionMinor > 0;
    this.reply = ['X-Request-Id', this.requestId, 'Api-Version', API_VERSION, ...securityHeaders];
  }

  get hasBody(): boolean {
    return this.headers.transferEncoding.length > 0 || this.declaredBytes > 0;
  }

  /** `Content-Length`; 0 when absent. Node's parser has refused anything but one run of digits. */
  get declaredBytes(): number {
    return Number(this.headers.contentLength[0] ?? 0);
  }
}

const REQUEST_ID = new RegExp(REQUEST_ID_PATTERN);

/** A caller's own id is kept when it is one well-formed value, so that it can be found in our logs; else one is made. */
function chooseRequestId(given: readonly string[]): string {
  const [id] = given;
  return given.length === 1 && id !== undefined && REQUEST_ID.test(id) ? id : randomUUID();
}

/** Lines that tell browsers to take answers literally; HSTS only where the address is https (RFC 6797 section 7.2). */
export function securityHeaders(origin: URL): readonly string[] {
  const lines = ['X-Content-Type-Options', 'nosniff'];
  if (origin.protocol === 'https:') lines.push('Strict-Transport-Security', 'max-age=31536000');
  return lines;
}

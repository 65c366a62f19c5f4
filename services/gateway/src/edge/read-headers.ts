/** Shared by all requests, because most headers are absent. */
const NONE: readonly string[] = Object.freeze([]);

/** The headers that the edge reads, with all values of each, because a repeated header is often an attack. */
export class RequestHeaders {
  hosts = NONE;
  authorization = NONE;
  apiVersion = NONE;
  requestId = NONE;
  forwardedFor = NONE;
  upgrade = NONE;
  connection = NONE;
  socketKey = NONE;
  socketVersion = NONE;
  origin = NONE;
  cookies = NONE;
  fetchSite = NONE;
  contentLength = NONE;
  transferEncoding = NONE;
  preflightMethod = NONE;
  expect = NONE;
  /** Headers for the service: name, value, name, value. */
  readonly onward: string[] = [];
  readonly count: number;

  constructor(count: number) {
    this.count = count;
  }
}

type EdgeHeader = Exclude<keyof RequestHeaders, 'onward' | 'count'>;

const EDGE_HEADERS: Readonly<Record<string, EdgeHeader>> = {
  host: 'hosts',
  authorization: 'authorization',
  'api-version': 'apiVersion',
  'x-request-id': 'requestId',
  'x-forwarded-for': 'forwardedFor',
  upgrade: 'upgrade',
  connection: 'connection',
  'sec-websocket-key': 'socketKey',
  'sec-websocket-version': 'socketVersion',
  origin: 'origin',
  cookie: 'cookies',
  'sec-fetch-site': 'fetchSite',
  'content-length': 'contentLength',
  'transfer-encoding': 'transferEncoding',
  'access-control-request-method': 'preflightMethod',
  expect: 'expect',
};

/** End-to-end headers that are forwarded to services. */
const ONWARD = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-type',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'idempotency-key',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'user-agent',
  'x-graphql-cost',
  'x-min-sync-id',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
] as const;

/** By header name: the field of `RequestHeaders`, or true when the header is forwarded. */
const HEADER_RULES = new Map<string, EdgeHeader | true>([
  ...Object.entries(EDGE_HEADERS),
  ...ONWARD.map((name): [string, true] => [name, true]),
]);

/**
 * Reads the raw headers of a request in one pass: those that the edge needs, and those that are forwarded. Only the headers of
 * a closed list are forwarded, so a client cannot send unknown headers, internal headers (`x-wts-*`), forwarding headers
 * or hop-by-hop headers to a service.
 * Keeps authentication.identity.not-forged.
 */
export function readHeaders(rawHeaders: readonly string[]): RequestHeaders {
  const headers = new RequestHeaders(rawHeaders.length / 2);
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const rule = HEADER_RULES.get(name);
    if (rule === undefined) continue;
    const value = rawHeaders[at + 1] as string;
    if (rule === true) headers.onward.push(name, value);
    else headers[rule] = headers[rule] === NONE ? [value] : [...headers[rule], value];
  }
  if (headers.connection !== NONE) dropNamedByConnection(headers);
  return headers;
}

/** RFC 9110 section 7.6.1: a header that Connection names is for this hop only. */
function dropNamedByConnection(headers: RequestHeaders): void {
  const named = connectionOptions(headers);
  if (named.length === 1 && (named[0] === 'keep-alive' || named[0] === 'close')) return;
  const { onward } = headers;
  for (let at = onward.length - 2; at >= 0; at -= 2) {
    if (named.includes(onward[at] as string)) onward.splice(at, 2);
  }
}

/** The options of all Connection lines, in lower case. */
export function connectionOptions(headers: RequestHeaders): string[] {
  return headers.connection
    .join(',')
    .toLowerCase()
    .split(',')
    .map((option) => option.trim())
    .filter((option) => option !== '');
}

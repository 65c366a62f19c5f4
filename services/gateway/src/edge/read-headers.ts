/** Shared by every request: most headers are absent, and absence should cost nothing. */
const NONE: readonly string[] = Object.freeze([]);

/** What the edge itself reads, one list of values per header because saying something twice is often a trick. */
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
  contentLength = NONE;
  transferEncoding = NONE;
  preflightMethod = NONE;
  expect = NONE;
  /** Name, value, name, value: ready for the upstream. */
  readonly onward: string[] = [];
  readonly count: number;

  constructor(count: number) {
    this.count = count;
  }
}

type Own = Exclude<keyof RequestHeaders, 'onward' | 'count'>;

const OWN: Readonly<Record<string, Own>> = {
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
  'content-length': 'contentLength',
  'transfer-encoding': 'transferEncoding',
  'access-control-request-method': 'preflightMethod',
  expect: 'expect',
};

/** End-to-end headers a service may read. Adding one is adding it here. */
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
  'traceparent',
  'tracestate',
  'user-agent',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
] as const;

/** One look-up per line: the field of the edge it belongs to, or true when it travels on. */
const HEADER_RULES = new Map<string, Own | true>([
  ...Object.entries(OWN),
  ...ONWARD.map((name): [string, true] => [name, true]),
]);

/**
 * The one pass over a request's raw header lines. It sorts each line into what the edge itself needs and what travels
 * on. What travels on is a closed list: a header nobody declared, an identity header of our own (`x-wts-*`), any
 * forwarding header and every hop-by-hop header stay here, whatever the client calls them.
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

/** RFC 9110 section 7.6.1: a header named in Connection is meant for this hop only. */
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

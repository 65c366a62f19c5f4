import { request } from './raw.ts';

/** The credential of a sender, and the request that is hidden in theirs. */
export interface Sender {
  readonly credential: string;
  /** Bytes that a careless parser reads as a separate request. No service may receive it. */
  readonly hidden: string;
}

/** The client address in a hidden request, which a service behind a trusted proxy would accept. */
export const FORGED_ADDRESS = '203.0.113.66';

const CHUNKED = ['Transfer-Encoding: chunked'];

/** The request to hide: a service would answer it, for its own credential. */
export function hiddenRequest(credential: string): string {
  return request('GET /sync/deltas?hidden=1', [credential, `X-Forwarded-For: ${FORGED_ADDRESS}`]);
}

/** Requests that two parsers could read differently: their end, their path or their headers. */
export function ambiguousRequests({ credential, hidden }: Sender): Readonly<Record<string, string>> {
  const mutate = (lines: readonly string[], body: string): string => mutation(credential, lines, body);
  return {
    'a length and chunks': mutate(['Content-Length: 6', 'Transfer-Encoding: chunked'], `0\r\n\r\n${hidden}`),
    'chunks and a length': mutate(['Transfer-Encoding: chunked', 'Content-Length: 4'], `0\r\n\r\n${hidden}`),
    'two lengths': mutate(['Content-Length: 0', `Content-Length: ${hidden.length}`], hidden),
    'the same length twice': mutate(['Content-Length: 2', 'Content-Length: 2'], '{}'),
    'a list of lengths': mutate(['Content-Length: 2, 2'], '{}'),
    'a signed length': mutate(['Content-Length: +2'], '{}'),
    'a hexadecimal length': mutate(['Content-Length: 0x2'], '{}'),
    'a negative length': mutate(['Content-Length: -1'], hidden),
    'a length beyond all numbers': mutate(['Content-Length: 99999999999999999999999'], '{}'),
    'an unknown transfer coding': mutate(['Transfer-Encoding: xchunked'], `0\r\n\r\n${hidden}`),
    'chunked before another coding': mutate(['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${hidden}`),
    'another coding before chunked': mutate(['Transfer-Encoding: gzip, chunked'], `0\r\n\r\n${hidden}`),
    'a quoted transfer coding': mutate(['Transfer-Encoding: "chunked"'], `0\r\n\r\n${hidden}`),
    'a vertical tab before a transfer coding': mutate(['Transfer-Encoding: \x0bchunked'], `0\r\n\r\n${hidden}`),
    'chunks in HTTP/1.0': mutate([...CHUNKED, 'Connection: keep-alive'], `0\r\n\r\n${hidden}`).replace('1.1', '1.0'),
    'two transfer codings': mutate(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${hidden}`),
    'a blank before the colon': mutate(['Transfer-Encoding : chunked'], `0\r\n\r\n${hidden}`),
    'a folded header line': mutate(['X-A: b', ' Transfer-Encoding: chunked'], `0\r\n\r\n${hidden}`),
    'a bare line feed': mutate(['X-A: b\nTransfer-Encoding: chunked'], `0\r\n\r\n${hidden}`),
    'a bare carriage return': mutate(['X-A: b\rTransfer-Encoding: chunked'], `0\r\n\r\n${hidden}`),
    'a NUL in a header': mutate(['X-A: b\0c'], ''),
    'a header name with a blank': mutate(['X A: b'], ''),
    'a bad chunk size': mutate(CHUNKED, `zz\r\n{}\r\n0\r\n\r\n${hidden}`),
    'a chunk longer than its size': mutate(CHUNKED, `1\r\n{}}\r\n0\r\n\r\n${hidden}`),
    'a chunk size with a sign': mutate(CHUNKED, `-2\r\n{}\r\n0\r\n\r\n${hidden}`),
    'a chunk size marked as hexadecimal': mutate(CHUNKED, `0x2\r\n{}\r\n0\r\n\r\n${hidden}`),
    'a chunk size beyond all numbers': mutate(CHUNKED, `10000000000000002\r\n{}\r\n0\r\n\r\n${hidden}`),
    'a bare line feed behind a chunk size': mutate(CHUNKED, `2\n{}\r\n0\r\n\r\n${hidden}`),
    'a bare line feed in a chunk extension': mutate(CHUNKED, `2;\n{}\r\n0\r\n\r\n${hidden}`),
    'a bare line feed behind a chunk': mutate(CHUNKED, `2\r\n{}\n0\r\n\r\n${hidden}`),
    'two hosts': request('GET /sync/deltas', [credential, 'Host: evil.test']),
    'no host': `GET /sync/deltas HTTP/1.1\r\n${credential}\r\n\r\n`,
    'an address with a host in it': request('GET http://evil.test/sync/deltas', [credential]),
    'an address without a slash': request('GET sync/deltas', [credential]),
    'an address of another host behind a user': request('GET http://evil.test@api.test/sync/deltas', [credential]),
    'an address of our host and another port': request('GET http://api.test:8080/sync/deltas', [credential]),
    'an address with an empty host': request('GET http:///sync/deltas', [credential]),
    'an address of our host before another': request('GET http://api.testhttp://evil.test/sync/deltas', [credential]),
    'a host without a scheme': request('GET //api.test/sync/deltas?x', [credential]).replace('?x', '\\x'),
    'an asterisk': request('GET *', [credential]),
    'a fragment in the address': request('GET /sync/deltas#x', [credential]),
    'a backslash in the address': request('GET /sync\\deltas', [credential]),
    'bytes beyond ASCII in the address': request('GET /sync/d\xc3\xa9ltas', [credential]),
    'HTTP/0.9': 'GET /sync/deltas\r\n\r\n',
    'HTTP/2.0 in the request line only': request('GET /sync/deltas', [credential]).replace('1.1', '2.0'),
  };
}

/** A change, with more header lines. */
export function mutation(credential: string, lines: readonly string[], body: string): string {
  return request('POST /sync/mutate', [credential, 'Content-Type: application/json', ...lines], body);
}

/** Path segments that differ after decoding. */
export const HIDDEN_SEGMENTS = [
  'a%2Fb',
  'a%2fb',
  '%2e%2e',
  '.%2E',
  '%2e',
  'a%5Cb',
  'a%00b',
  'a%0d%0ab',
  '%ff',
  '%c0%af',
  '%',
  '%zz',
] as const;

/** Paths with unencoded dots and slashes. */
export const OPEN_DOTS = [
  '/api/workspaces/by-slug/..',
  '/api/workspaces/by-slug/../..',
  '/api/workspaces/by-slug//x',
  '/sync/../internal/commit',
] as const;

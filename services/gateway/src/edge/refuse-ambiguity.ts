import { Fault, LIMITS } from '@wts/contracts';
import type { Exchange } from './exchange.ts';

/**
 * Refuses what two readers could read differently: the gateway and a service must never disagree about where a request
 * goes or where it ends. Node's parser has refused ambiguous lengths before this (RFC 9112 section 6.3).
 * Keeps errors.431.headers.
 */
export function refuseAmbiguity(exchange: Exchange): void {
  const { req, method, url, path, headers } = exchange;
  if (headers.count > LIMITS.headerCount) {
    throw new Fault('headers_too_large', { message: `At most ${LIMITS.headerCount} headers.` });
  }
  if (req.httpVersionMajor !== 1) throw malformed('This server speaks HTTP/1.1.');
  if (headers.transferEncoding.length > 0) refuseCodings(exchange);
  // RFC 9112 section 3.2: HTTP/1.0 may leave Host out.
  const hosts = headers.hosts.length;
  if (hosts > 1 || (hosts === 0 && req.httpVersion !== '1.0'))
    throw malformed('A request needs exactly one Host header.');
  if (url.length > LIMITS.urlBytes) {
    throw new Fault('headers_too_large', { message: `The address is longer than ${LIMITS.urlBytes} bytes.` });
  }
  // The address of our own host is a path by now; nothing else that the client wrote may name a host.
  if (url[0] !== '/' && !(url === '*' && method === 'OPTIONS')) {
    throw malformed('The request target must be a path, or an address of the host that Host names.');
  }
  if (!TARGET.test(url)) throw malformed('The address holds characters that must be percent-encoded.');
  if (path.includes('%')) refuseHiddenPath(path);
}

/**
 * RFC 9112 section 6.1: the parser undoes `chunked` and nothing before it, and a reader of HTTP/1.0 may not know it at
 * all. What stands behind such a request could be its body to somebody, so nothing there is read as a request.
 */
function refuseCodings(exchange: Exchange): void {
  const { req, headers } = exchange;
  if (req.httpVersion !== '1.0' && headers.transferEncoding.join().toLowerCase() === 'chunked') return;
  exchange.isLast = true;
  throw malformed('The only transfer coding is chunked, in HTTP/1.1.');
}

/** Visible ASCII without `#`, which clients must keep to themselves, and without the backslash some read as a slash. */
const TARGET = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/;

/** Percent-encoding may carry any letter, but nothing that would change the path for whoever decodes it. */
function refuseHiddenPath(path: string): void {
  for (const segment of path.split('/')) {
    if (!segment.includes('%')) continue;
    let text: string;
    try {
      text = decodeURIComponent(segment);
    } catch {
      throw malformed('The path is not valid percent-encoded UTF-8.');
    }
    // oxlint-disable-next-line no-control-regex -- control characters are what this refuses
    if (/[/\\\u0000-\u001f\u007f]/.test(text) || text === '.' || text === '..') {
      throw malformed('The path hides a separator, a dot segment or a control character.');
    }
  }
}

function malformed(message: string): Fault {
  return new Fault('malformed_request', { message });
}

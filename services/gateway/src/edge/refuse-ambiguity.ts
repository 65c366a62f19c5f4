import { Fault, LIMITS } from '@wts/contracts';
import { faultOfHosts, faultOfTarget } from '@wts/service-kit/http';
import type { RequestContext } from './request-context.ts';

/**
 * Refuses requests that two parsers could read differently: the gateway and a service must agree about the path and the end of
 * a request. Node's parser has refused ambiguous lengths already (RFC 9112 section 6.3).
 * Keeps errors.431.headers.
 */
export function refuseAmbiguity(context: RequestContext): void {
  const { req, method, url, headers } = context;
  if (headers.count > LIMITS.headerCount)
    throw new Fault('headers_too_large', { message: `A request may have at most ${LIMITS.headerCount} headers.` });
  if (req.httpVersionMajor !== 1) throw malformed('This server supports HTTP/1.1 only.');
  if (headers.transferEncoding.length > 0) refuseCodings(context);
  const fault = faultOfHosts(headers.hosts.length, req.httpVersion) ?? faultOfTarget(url, method);
  if (fault !== null) throw fault;
}

/**
 * RFC 9112 section 6.1: Node's parser decodes `chunked` and no other coding, and parsers of HTTP/1.0 may not support it. Bytes
 * after such a request could be its body to another parser, so this is the last request on the connection.
 */
function refuseCodings(context: RequestContext): void {
  const { req, headers } = context;
  if (req.httpVersion !== '1.0' && headers.transferEncoding.join().toLowerCase() === 'chunked') return;
  context.isLast = true;
  throw malformed('The only supported transfer coding is chunked, in HTTP/1.1.');
}

function malformed(message: string): Fault {
  return new Fault('malformed_request', { message });
}

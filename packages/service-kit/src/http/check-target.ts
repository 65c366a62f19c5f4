import { Fault, LIMITS } from '@wts/contracts';

/** Visible ASCII without `#`, which clients must not send, and without the backslash, which some software reads as a slash. */
const TARGET = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/;

/**
 * The fault of a request target; null when it is valid. The gateway and a service must never read it differently. An absolute URL
 * of this host is a path by now (`originForm`); other hosts are refused.
 */
export function faultOfTarget(url: string, method: string): Fault | null {
  if (url.length > LIMITS.urlBytes)
    return new Fault('headers_too_large', { message: `The URL may have at most ${LIMITS.urlBytes} bytes.` });
  if (url[0] !== '/' && !(url === '*' && method === 'OPTIONS'))
    return malformed('The request target must be a path, or a URL of the host named by the Host header.');
  if (!TARGET.test(url)) return malformed('The URL contains characters that must be percent-encoded.');
  return url.includes('%') ? faultOfEncodedPath(url.split('?', 1)[0] as string) : null;
}

/** RFC 9112 section 3.2: exactly one Host, which HTTP/1.0 may leave out. */
export function faultOfHosts(hosts: number, httpVersion: string): Fault | null {
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return null;
  return malformed('A request must have exactly one Host header.');
}

/** Refuses percent-encoded characters that would change the path when they are decoded. */
function faultOfEncodedPath(path: string): Fault | null {
  for (const segment of path.split('/')) {
    if (!segment.includes('%')) continue;
    let text: string;
    try {
      text = decodeURIComponent(segment);
    } catch {
      return malformed('The path is not valid percent-encoded UTF-8.');
    }
    // oxlint-disable-next-line no-control-regex -- control characters are what this refuses
    if (/[/\\\u0000-\u001f\u007f]/.test(text) || text === '.' || text === '..')
      return malformed('The path contains an encoded separator, dot segment or control character.');
  }
  return null;
}

function malformed(message: string): Fault {
  return new Fault('malformed_request', { message });
}

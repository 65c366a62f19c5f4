import { Fault, LIMITS } from '@wts/contracts';

/** Visible ASCII without `#`, which clients must keep to themselves, and without the backslash some read as a slash. */
const TARGET = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/;

/**
 * What is wrong with a request target; null when nothing is. Two readers of it (the gateway and a service) must never
 * disagree about where it leads. The address of our own host is a path by now (`originForm`); no other host may be named.
 */
export function faultOfTarget(url: string, method: string): Fault | null {
  if (url.length > LIMITS.urlBytes) {
    return new Fault('headers_too_large', { message: `The URL may have at most ${LIMITS.urlBytes} bytes.` });
  }
  if (url[0] !== '/' && !(url === '*' && method === 'OPTIONS')) {
    return malformed('The request target must be a path, or a URL of the host named by the Host header.');
  }
  if (!TARGET.test(url)) return malformed('The URL contains characters that must be percent-encoded.');
  return url.includes('%') ? faultOfHiddenPath(url.split('?', 1)[0] as string) : null;
}

/** RFC 9112 section 3.2: exactly one Host, which HTTP/1.0 may leave out. */
export function faultOfHosts(hosts: number, httpVersion: string): Fault | null {
  if (hosts === 1 || (hosts === 0 && httpVersion === '1.0')) return null;
  return malformed('A request must have exactly one Host header.');
}

/** Percent-encoding may carry any letter, but nothing that would change the path when it is decoded. */
function faultOfHiddenPath(path: string): Fault | null {
  for (const segment of path.split('/')) {
    if (!segment.includes('%')) continue;
    let text: string;
    try {
      text = decodeURIComponent(segment);
    } catch {
      return malformed('The path is not valid percent-encoded UTF-8.');
    }
    // oxlint-disable-next-line no-control-regex -- control characters are what this refuses
    if (/[/\\\u0000-\u001f\u007f]/.test(text) || text === '.' || text === '..') {
      return malformed('The path contains an encoded separator, dot segment or control character.');
    }
  }
  return null;
}

function malformed(message: string): Fault {
  return new Fault('malformed_request', { message });
}

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Returns the address of the client of a request; see `addressReader`. */
export type AddressReader = (peer: string | undefined, forwardedFor: readonly string[]) => string;

/**
 * Returns the address of the client: the peer of the connection, unless that is a configured proxy. Then it reads
 * `X-Forwarded-For` from the right and skips further configured proxies. The left end is text of the client and is not
 * used; `Forwarded`, `X-Real-IP` and similar headers are never read. `onIgnored` is called with the sender of the first
 * such header that does not count.
 * Throws when a range is malformed.
 */
export function addressReader(
  trustedProxies: readonly string[],
  onIgnored: (sender: string) => void = () => {},
): AddressReader {
  const isTrusted = trusting(trustedProxies);
  let hasIgnored = false;
  const ignore = (peer: string | undefined, forwardedFor: readonly string[]): void => {
    if (hasIgnored || forwardedFor.length === 0) return;
    hasIgnored = true;
    onIgnored(plain(peer));
  };
  const withoutProxies: AddressReader = (peer, forwardedFor) => {
    ignore(peer, forwardedFor);
    return plain(peer);
  };
  if (trustedProxies.length === 0) return withoutProxies;
  return (peer, forwardedFor) => {
    const nearest = parseAddress(peer);
    if (nearest === null || !isTrusted(nearest)) {
      ignore(peer, forwardedFor);
      return nearest?.toString() ?? 'unknown';
    }
    const hops = forwardedFor.join(',').split(',');
    let last: Address = nearest;
    for (let at = hops.length - 1; at >= 0; at -= 1) {
      const hop = parseAddress(hops[at]?.trim());
      // A trusted proxy writes an address; before anything else the header is not its text.
      if (hop === null) break;
      last = hop;
      if (!isTrusted(hop)) break;
    }
    return last.toString();
  };
}

/** Returns the network of a connection; null for a configured proxy. */
export function peerReader(trustedProxies: readonly string[]): (peer: string | undefined) => string | null {
  const isProxy = peerMatcher(trustedProxies);
  return (peer) => (isProxy(peer) ? null : networkOf(plain(peer)));
}

/** Returns whether the peer of a connection is one of these addresses and ranges. Throws when a range is malformed. */
export function peerMatcher(ranges: readonly string[]): (peer: string | undefined) => boolean {
  const isTrusted = trusting(ranges);
  return (peer) => {
    const address = ranges.length === 0 ? null : parseAddress(peer);
    return address !== null && isTrusted(address);
  };
}

/**
 * The network that counts as one sender: an IPv4 address, or the first 64 bits of an IPv6 address, because a client chooses
 * the other bits freely.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = parseAddress(address.split('%', 1)[0]);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? address;
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

function trusting(trustedProxies: readonly string[]): (address: Address) => boolean {
  const ranges = trustedProxies.map(parseRange);
  return (address) => ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

function plain(peer: string | undefined): string {
  if (peer === undefined) return 'unknown';
  return peer.startsWith('::ffff:') ? peer.slice(7) : peer;
}

function parseAddress(text: string | undefined): Address | null {
  // The library accepts `127.1` and octal forms, which no proxy writes, and throws at names of zones that Node accepts, such as `eth0.1`.
  return text === undefined || isIP(text) === 0 || !ipaddr.isValid(text) ? null : ipaddr.process(text);
}

function parseRange(text: string): [Address, number] {
  try {
    return text.includes('/') ? ipaddr.parseCIDR(text) : wholeAddress(ipaddr.process(text));
  } catch (cause) {
    throw new Error(`"${text}" is no IP address or CIDR range`, { cause });
  }
}

function wholeAddress(address: Address): [Address, number] {
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

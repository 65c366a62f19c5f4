import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Tells whose address a request comes from; see `addressReader`. */
export type AddressReader = (peer: string | undefined, forwardedFor: readonly string[]) => string;

/**
 * Reads the client's address. The peer of the connection is the client unless it is a configured proxy; only then is
 * `X-Forwarded-For` read, from the right, past further configured proxies. The left end is the client's own text and is
 * never believed; `Forwarded`, `X-Real-IP` and the like are never read. Throws when a range is malformed.
 */
export function addressReader(trustedProxies: readonly string[]): AddressReader {
  const isTrusted = trusting(trustedProxies);
  return (peer, forwardedFor) => {
    if (trustedProxies.length === 0) return plain(peer);
    const nearest = parseAddress(peer);
    if (nearest === null) return 'unknown';
    if (!isTrusted(nearest)) return nearest.toString();
    const hops = forwardedFor.join(',').split(',');
    let last: Address = nearest;
    for (let at = hops.length - 1; at >= 0; at -= 1) {
      const hop = parseAddress(hops[at]?.trim());
      // What a trusted proxy wrote is an address; anything else is where its knowledge ends.
      if (hop === null) break;
      last = hop;
      if (!isTrusted(hop)) break;
    }
    return last.toString();
  };
}

/** Reads the network that a connection comes from; null for a configured proxy. */
export function peerReader(trustedProxies: readonly string[]): (peer: string | undefined) => string | null {
  const isTrusted = trusting(trustedProxies);
  return (peer) => {
    const address = trustedProxies.length === 0 ? null : parseAddress(peer);
    return address !== null && isTrusted(address) ? null : networkOf(plain(peer));
  };
}

/**
 * What counts as one sender: an IPv4 address, or the 64 bits of an IPv6 address that its network is given; the rest of it
 * everybody chooses freely.
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
  if (text === undefined || !ipaddr.isValid(text)) return null;
  // `127.1` and octal forms are valid to the library; no proxy writes them.
  if (!text.includes(':') && !ipaddr.IPv4.isValidFourPartDecimal(text)) return null;
  return ipaddr.process(text);
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

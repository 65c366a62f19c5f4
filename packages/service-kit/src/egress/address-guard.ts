import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** Which addresses a request may go to. */
export interface AddressGuard {
  /** Whether a range is open that is not public: names of private networks are then judged by their addresses only. */
  readonly isOpened: boolean;
  allows(address: string): boolean;
}

/** IPv4 blocks that are not public: the special-purpose registry of IANA, and one address that is public in form only. */
const DENIED_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32', // Azure's platform, reachable from every machine there
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** The one IPv6 block that holds public addresses. All forms that carry an IPv4 address below ::/8 or 64:ff9b::/16 are outside. */
const GLOBAL_V6 = '2000::/3';

/** Blocks of it that are not public, or lead elsewhere: Teredo and others in 2001::/23, 6to4, documentation. */
const DENIED_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** Interface identifiers of ISATAP, whose last 32 bits are the IPv4 address a tunnel leads to. */
const ISATAP = ['0:5efe', '200:5efe'];

/** The public blocks, and what they contain that is not public: for a network policy, which knows blocks only. */
export const PUBLIC_BLOCKS = [
  { cidr: '0.0.0.0/0', except: DENIED_V4 },
  { cidr: GLOBAL_V6, except: DENIED_V6 },
] as const;

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/**
 * The first layer of three that keep requests on the public network: this one judges addresses, `endpoint-url.ts` judges
 * what an administrator writes, and `connect.ts` judges each connection before and after it is made. IPv6 is refused
 * unless known to be public, because blocks that become special later would otherwise be open.
 *
 * Keeps webhooks.attempt.address-guard and never.non-public-address.
 */
export function addressGuard(allowedCidrs: readonly string[] = []): AddressGuard {
  const allowed = allowedCidrs.map(rangeOf);
  return {
    isOpened: allowed.length > 0,
    allows(text) {
      const address = parseAddress(text);
      return address !== null && (isPublic(address) || allowed.some((range) => contains(range, address)));
    },
  };
}

/** What is wrong with a text that should be a CIDR block or an address, as the end of a sentence; null for nothing. */
export function refuseRange(text: string): string | null {
  return parseRange(text) === null ? `has ${text}, which is neither a CIDR block nor an address` : null;
}

function rangeOf(text: string): Range {
  const range = parseRange(text);
  if (range === null) throw new Error(`${text} is no CIDR block`);
  return range;
}

function parseRange(text: string): Range | null {
  const [address = '', bits, ...rest] = text.split('/');
  const parsed = parseAddress(address);
  const most = parsed?.kind() === 'ipv4' ? 32 : 128;
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return parsed === null || rest.length > 0 || !(length <= most) ? null : [parsed, length];
}

/** One spelling for each address, to compare by; null for a text that is none. */
export function canonicalAddress(text: string): string | null {
  return parseAddress(text)?.toNormalizedString() ?? null;
}

/** `isIP` comes first because ipaddr.js also reads 127.1, 0x7f.0.0.1 and the like; a zone names an interface of this machine. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  return isIP(text) === 0 || text.includes('%') ? null : ipaddr.parse(text);
}

const deniedV4 = DENIED_V4.map(rangeOf);
const deniedV6 = DENIED_V6.map(rangeOf);
const globalV6 = rangeOf(GLOBAL_V6);

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (address.kind() === 'ipv4') return !deniedV4.some((range) => contains(range, address));
  if (!contains(globalV6, address) || deniedV6.some((range) => contains(range, address))) return false;
  const [high = 0, low = 0] = (address as ipaddr.IPv6).parts.slice(4, 6);
  return !ISATAP.includes(`${high.toString(16)}:${low.toString(16)}`);
}

function contains([network, bits]: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

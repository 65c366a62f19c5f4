import { PUBLIC_BLOCKS } from '@wts/contracts';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** Which addresses a request may go to. */
export interface AddressGuard {
  /** Whether a range is open that is not public: names of private networks are then judged by their addresses only. */
  readonly isOpened: boolean;
  allows(address: string): boolean;
}

/** Interface identifiers of ISATAP, whose last 32 bits are the IPv4 address a tunnel leads to. */
const ISATAP = ['0:5efe', '200:5efe'];

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

const publicBlocks = PUBLIC_BLOCKS.map(({ cidr, except }) => ({ block: rangeOf(cidr), except: except.map(rangeOf) }));

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const found = publicBlocks.find(({ block }) => contains(block, address));
  if (found === undefined || found.except.some((range) => contains(range, address))) return false;
  if (address.kind() === 'ipv4') return true;
  const [high = 0, low = 0] = (address as ipaddr.IPv6).parts.slice(4, 6);
  return !ISATAP.includes(`${high.toString(16)}:${low.toString(16)}`);
}

function contains([network, bits]: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network, bits);
}

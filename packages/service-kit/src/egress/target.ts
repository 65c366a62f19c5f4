import { isIP } from 'node:net';
import { LIMITS } from '@wts/contracts';
import type { AddressGuard } from './address-guard.ts';

/** Where requests to a URL go. */
export interface Target {
  readonly origin: string;
  readonly path: string;
  /** An IP address, without brackets, or a name, without a dot at its end. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

const HTTPS_PORT = 443;
/** Ports below are those of other protocols, whose servers must not be sent requests. */
const FREE_PORTS_FROM = 1_024;
const NAME_CHARACTERS_MAX = 253;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** Zones that name machines of a local network (RFC 6761, RFC 6762, RFC 8375, and `internal`, which ICANN reserved). */
const LOCAL_ZONES = ['localhost', 'localdomain', 'local', 'internal', 'lan', 'home.arpa'];
export const NOT_PUBLIC = 'The url must be public: loopback, private and link-local addresses are refused.';

/** The target of an https URL on the public network, judged by its form, or a sentence that names its fault. */
export function parseTarget(text: string, guard: AddressGuard): Target | string {
  const tooLong = `The url has more than ${LIMITS.webhookUrlMax} characters.`;
  if (text.length > LIMITS.webhookUrlMax) return tooLong;
  // The parser takes `https:\\host`, `https:host` and characters that it leaves out; a reader takes them for something else.
  if (!/^https:\/\/[^\s\\]+$/i.test(text)) return 'The url must begin with https:// and have no spaces or backslashes.';
  const url = URL.parse(text);
  if (url === null) return 'The url is not a valid URL.';
  // It is kept as the parser writes it, with `%27` for an apostrophe and the like, and read again before each attempt.
  if (url.href.length > LIMITS.webhookUrlMax) return tooLong;
  if (/^https:\/\/[^/?#]*@/i.test(text)) return 'The url must not contain a user name or password.';
  const port = url.port === '' ? HTTPS_PORT : Number(url.port);
  if (port !== HTTPS_PORT && port < FREE_PORTS_FROM)
    return `The port of the url must be ${HTTPS_PORT}, or ${FREE_PORTS_FROM} or higher.`;
  // The parser has turned every spelling of an IPv4 address into the one with four numbers.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const isAddress = isIP(host) !== 0;
  const fault = isAddress ? (guard.allows(host) ? null : NOT_PUBLIC) : faultOfName(host, guard);
  return fault ?? { origin: url.origin, path: `${url.pathname}${url.search}`, host, isAddress, port };
}

function faultOfName(name: string, guard: AddressGuard): string | null {
  const labels = name.split('.');
  if (name.length > NAME_CHARACTERS_MAX || !labels.every((label) => LABEL.test(label)))
    return 'The host of the url is not a valid name.';
  if (guard.isOpened) return null;
  const isLocal = labels.length < 2 || LOCAL_ZONES.some((zone) => name === zone || name.endsWith(`.${zone}`));
  return isLocal ? NOT_PUBLIC : null;
}

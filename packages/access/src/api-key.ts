import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 > 2^256: room for 32 random bytes. */
const SECRET_CHARS = 43;
/** 62^6 > 2^32: room for a CRC-32. */
const CHECKSUM_CHARS = 6;
const SECRET_BYTES = 32;
const KEY_PREFIX_CHARS = 12;
const body = new RegExp(`^[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`);

export interface GeneratedApiKey {
  /** Shown once, never stored. */
  readonly token: string;
  /** SHA-256 in lowercase hex: what is stored and looked up. The secret has 256 bits, so no slow hash is needed. */
  readonly hash: string;
  /** First characters, by which people identify their keys. */
  readonly keyPrefix: string;
}

/**
 * Generates a personal API key: `<prefix><43 characters of secret><6 characters of checksum>`. The checksum lets secret
 * scanners recognize a leaked key, and a mistyped key be refused without a look-up. Keeps
 * api-keys.token.prefix.
 * Keeps api-keys.token.stored-hashed.
 */
export function generateApiKey(prefix: string): GeneratedApiKey {
  const secret = base62(BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`), SECRET_CHARS);
  const token = prefix + secret + checksum(prefix + secret);
  return { token, hash: hashOf(token), keyPrefix: token.slice(0, KEY_PREFIX_CHARS) };
}

/** The hash and the shown prefix of a key; null for a text with another prefix, shape or checksum. */
export function readApiKey(text: string, prefix: string): Omit<GeneratedApiKey, 'token'> | null {
  if (!text.startsWith(prefix)) return null;
  const rest = text.slice(prefix.length);
  if (!body.test(rest)) return null;
  const secret = rest.slice(0, SECRET_CHARS);
  if (checksum(prefix + secret) !== rest.slice(SECRET_CHARS)) return null;
  return { hash: hashOf(text), keyPrefix: text.slice(0, KEY_PREFIX_CHARS) };
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_CHARS);
}

function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET.charAt(Number(rest % 62n)) + text;
  return text.padStart(width, '0');
}

import { seal, unseal } from '@wts/service-kit/routes';
import { createHash, randomBytes } from 'node:crypto';

/**
 * The signing secrets of endpoints, which are kept encrypted. WEBHOOK_SECRET_KEY names the keys that encrypt them, so that
 * an operator changes the key without downtime: a new key in front, the old ones behind it until nothing is sealed with
 * them any more. Keeps webhooks.secret.at-rest.
 */
export interface SecretKeys {
  /** Encrypts new secrets. */
  readonly current: SecretKey;
  /** By name and by fingerprint. */
  readonly byId: ReadonlyMap<string, SecretKey>;
}

interface SecretKey {
  /** The name that WEBHOOK_SECRET_KEY gives the key, else its fingerprint. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A secret at rest. */
export interface SealedSecret {
  readonly keyId: string;
  readonly sealed: Buffer;
}

/** One secret of an endpoint as the table holds it. */
export interface StoredSecret extends SealedSecret {
  readonly createdAt: Date;
  /** Null for the current secret; the ones before it sign until then. */
  readonly expiresAt: Date | null;
}

const KEY_BYTES = 32;
const SECRET_BYTES = 32;
const SECRET_PREFIX = 'whsec_';
const FINGERPRINT_CHARACTERS = 16;
/** A key of random bytes has more different ones; one that was typed has fewer. */
const DIFFERENT_BYTES_MIN = 12;

const NAMED_KEY = /^(?:([a-z0-9-]{1,32}):)?([A-Za-z0-9+/_-]{43}=?)$/;
const FORM =
  'must be 32 random bytes in base64 (openssl rand -base64 32), or several such keys separated by commas, each `key` or `name:key`; the first encrypts';

/** Reads WEBHOOK_SECRET_KEY. Throws an Error that completes the sentence "WEBHOOK_SECRET_KEY ..." and repeats no key. */
export function parseSecretKeys(text: string): SecretKeys {
  const keys = text.split(',').map((item) => parseKey(item.trim()));
  const byId = new Map<string, SecretKey>();
  for (const key of keys) {
    for (const id of new Set([key.id, fingerprintOf(key.bytes)])) {
      if (byId.has(id)) throw new Error(`names a key twice: ${id}`);
      byId.set(id, key);
    }
  }
  const [current] = keys;
  if (current === undefined) throw new Error(FORM);
  return { current, byId };
}

function parseKey(text: string): SecretKey {
  const [, name, encoded = ''] = NAMED_KEY.exec(text) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length !== KEY_BYTES) throw new Error(FORM);
  if (new Set(bytes).size < DIFFERENT_BYTES_MIN) throw new Error(`${FORM}; a key in it can be guessed`);
  return { id: name ?? fingerprintOf(bytes), bytes };
}

/** Names a key without giving any of its bytes. */
function fingerprintOf(key: Buffer): string {
  return createHash('sha256')
    .update('wts webhook secret key')
    .update(key)
    .digest('hex')
    .slice(0, FINGERPRINT_CHARACTERS);
}

export function makeSecret(): Buffer {
  return randomBytes(SECRET_BYTES);
}

/** A secret as its endpoint's owner gets it, once. */
export function secretText(secret: Buffer): string {
  return SECRET_PREFIX + secret.toString('base64');
}

/** The endpoint's id is authenticated with the secret, so no row can be copied to another endpoint. */
export function sealSecret({ current }: SecretKeys, endpointId: string, secret: Buffer): SealedSecret {
  return { keyId: current.id, sealed: seal(current.bytes, Buffer.from(endpointId), secret.toString('base64')) };
}

/** Throws when WEBHOOK_SECRET_KEY holds the key no more, or when the row was changed or belongs to another endpoint. */
export function unsealSecret({ byId }: SecretKeys, endpointId: string, { keyId, sealed }: SealedSecret): Buffer {
  const key = byId.get(keyId);
  if (key === undefined) throw new Error(`WEBHOOK_SECRET_KEY holds no key ${keyId}, which secrets are sealed with`);
  return Buffer.from(unseal(key.bytes, Buffer.from(endpointId), sealed), 'base64');
}

/** Those that sign at a time, the current one first, then the ones before it, newest first. Keeps webhooks.signature.rotation. */
export function secretsInForce<S extends Pick<StoredSecret, 'createdAt' | 'expiresAt'>>(
  secrets: readonly S[],
  nowMs: number,
): S[] {
  const isInForce = ({ expiresAt }: S): boolean => expiresAt === null || expiresAt.getTime() > nowMs;
  const rank = ({ expiresAt }: S): number => (expiresAt === null ? 0 : 1);
  return secrets
    .filter(isInForce)
    .toSorted((one, other) => rank(one) - rank(other) || other.createdAt.getTime() - one.createdAt.getTime());
}

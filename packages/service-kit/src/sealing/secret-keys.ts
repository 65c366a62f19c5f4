import { createHash } from 'node:crypto';
import { seal, unseal } from './sealing.ts';

/**
 * The keys that encrypt the secrets in a database. A setting names them, so that an operator changes the key without downtime: a new
 * key in front, the old ones behind it until nothing is sealed with them any more.
 */
export interface SecretKeys {
  /** Encrypts new secrets. */
  readonly current: SecretKey;
  /** By name and by fingerprint. */
  readonly byId: ReadonlyMap<string, SecretKey>;
}

interface SecretKey {
  /** The name that the setting gives the key, else its fingerprint. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A secret at rest. */
export interface SealedSecret {
  readonly keyId: string;
  readonly sealed: Buffer;
}

const KEY_BYTES = 32;
const FINGERPRINT_CHARACTERS = 16;
/** A key of random bytes has more different ones; one that was typed has fewer. */
const DIFFERENT_BYTES_MIN = 12;

const NAMED_KEY = /^(?:([a-z0-9-]{1,32}):)?([A-Za-z0-9+/_-]{43}=?)$/;
const FORM =
  'must be 32 random bytes in base64 (openssl rand -base64 32), or several such keys separated by commas, each `key` or `name:key`; the first encrypts';

/** Reads such a setting. Throws an Error that completes the sentence "VARIABLE ..." and repeats no key. */
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

/** The id of its row is authenticated with the secret, so none can be copied to another row. */
export function sealSecret({ current }: SecretKeys, id: string, secret: Buffer): SealedSecret {
  return { keyId: current.id, sealed: seal(current.bytes, Buffer.from(id), secret.toString('base64')) };
}

/** Throws when the setting has the key no more, or when the secret was changed or is of another row. */
export function unsealSecret({ byId }: SecretKeys, id: string, { keyId, sealed }: SealedSecret): Buffer {
  const key = byId.get(keyId);
  if (key === undefined) throw new Error(`the setting has no key ${keyId}, which secrets are sealed with`);
  return Buffer.from(unseal(key.bytes, Buffer.from(id), sealed), 'base64');
}

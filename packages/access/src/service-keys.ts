import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CALLS, type ServiceName } from '@wts/contracts';

/**
 * The key pairs of services: each service that calls others signs with a private key that only it has, and every service has the
 * public keys of all. A caller may have several public keys while one pair replaces another. Keeps authentication.internal.keys.
 */
export interface ServiceKey {
  /** RFC 7638: names the key in a token. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The public keys of each caller. */
export type PublicKeys = ReadonlyMap<ServiceName, readonly ServiceKey[]>;

/** A pair as the texts that settings have: DER in base64. */
interface KeyPairText {
  readonly privateKey: string;
  readonly publicKey: string;
}

/** The new and the old one. More would be pairs that the operator forgot to remove. */
const KEYS_OF_SERVICE_MAX = 2;
const FORM = 'in base64 of DER, as openssl writes it';

export function generateServiceKey(): KeyPairText {
  const { privateKey } = generateKeyPairSync('ed25519');
  return textsOf(privateKey);
}

/** The public key as text that belongs to a private one. */
export function publicKeyOf(privateKey: string): string {
  return textsOf(parsePrivateKey(privateKey).key).publicKey;
}

function textsOf(key: KeyObject): KeyPairText {
  return {
    privateKey: key.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    publicKey: createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64'),
  };
}

/** Reads a private key. The message of a failure has no part of the text. */
export function parsePrivateKey(text: string): ServiceKey {
  const key = ed25519(() => createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' }));
  if (key === null) throw new Error(`must be a private key of Ed25519 (PKCS #8) ${FORM}`);
  return { id: thumbprint(createPublicKey(key)), key };
}

/** Reads `{"<service>": ["<public key>", ...], ...}`. */
export function parsePublicKeys(text: string): PublicKeys {
  const byService = new Map<ServiceName, readonly ServiceKey[]>();
  const owners = new Map<string, string>();
  for (const [service, listed] of Object.entries(objectOf(text))) {
    if (!isCaller(service))
      throw new Error(`has keys of ${JSON.stringify(service)}, which is no service that calls others`);
    if (!Array.isArray(listed) || listed.length === 0 || listed.length > KEYS_OF_SERVICE_MAX)
      throw new Error(`must have a list of one key for ${service}, or of two while one replaces the other`);
    const keys = listed.map((each: unknown) => parsePublicKey(each, service));
    for (const { id } of keys) {
      const owner = owners.get(id);
      if (owner !== undefined) throw new Error(`has the same key twice, for ${owner} and ${service}`);
      owners.set(id, service);
    }
    byService.set(service, keys);
  }
  return byService;
}

function objectOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Without the text, because it may be a private key by mistake.
  }
  throw new Error('must be JSON: {"<service>": ["<public key>"], ...}');
}

function isCaller(service: string): service is ServiceName {
  return Object.hasOwn(CALLS, service) && CALLS[service as ServiceName].length > 0;
}

function parsePublicKey(text: unknown, service: string): ServiceKey {
  const key = ed25519(() => createPublicKey({ key: Buffer.from(String(text), 'base64'), format: 'der', type: 'spki' }));
  if (key === null) throw new Error(`must have public keys of Ed25519 (SPKI) ${FORM}; one of ${service} is none`);
  return { id: thumbprint(key), key };
}

function ed25519(read: () => KeyObject): KeyObject | null {
  try {
    const key = read();
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

function thumbprint(key: KeyObject): string {
  const { crv, kty, x } = key.export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}

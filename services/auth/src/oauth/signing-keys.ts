import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Fault } from '@wts/contracts';
import { sealSecret, unsealSecret, type SecretKeys } from '@wts/service-kit/sealing';
import { KEY_LEAD_MS, planKeys, signingKeyAt } from '../domain/key-plan.ts';
import { sha256 } from '../domain/sha256.ts';
import type { SigningKeyStore, StoredKey } from '../store/signing-keys.ts';

export interface SigningKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys of access tokens: stored sealed, the same for all replicas, made by the first one that needs one. */
export interface SigningKeys {
  /** The key that signs now. */
  current(): Promise<SigningKey>;
  publicKeys(): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Makes the next key ahead of its time, and deletes those that are over. */
  rotate(): Promise<void>;
}

interface SigningKeysOptions {
  readonly store: SigningKeyStore;
  readonly secretKeys: SecretKeys;
  readonly rotationMs: number;
}

/** A key of another replica is published here within this time; it signs an hour later. */
const READ_EVERY_MS = 60_000;

export function openSigningKeys({ store, secretKeys, rotationMs }: SigningKeysOptions): SigningKeys {
  let read: { readonly keys: Promise<readonly StoredKey[]>; readonly atMs: number } | null = null;
  const opened = new Map<string, KeyObject>();

  const rotate = async (): Promise<void> => {
    await store.change((keys) => {
      const { makeFrom, deleteIds } = planKeys(keys, Date.now(), rotationMs);
      return { make: makeFrom === null ? null : makeKey(secretKeys, makeFrom), deleteIds };
    });
    read = null;
  };
  const list = async (): Promise<readonly StoredKey[]> => {
    const keys = await store.list();
    if (signingKeyAt(keys, Date.now()) !== undefined) return keys;
    await rotate();
    return store.list();
  };
  const keysNow = (): Promise<readonly StoredKey[]> => {
    if (read === null || performance.now() - read.atMs > READ_EVERY_MS) {
      const keys = list();
      const current = { keys, atMs: performance.now() };
      read = current;
      keys.catch(() => {
        if (read === current) read = null;
      });
    }
    return read.keys;
  };

  return {
    rotate,
    current: async () => {
      const stored = signingKeyAt(await keysNow(), Date.now());
      if (stored === undefined) throw new Fault('unavailable');
      const key = opened.get(stored.id) ?? createPrivateKey(unsealSecret(secretKeys, stored.id, stored).toString());
      opened.clear();
      opened.set(stored.id, key);
      return { id: stored.id, key };
    },
    publicKeys: async () => (await keysNow()).map(({ publicJwk }) => publicJwk),
  };
}

/**
 * Makes the next key before its time. It is published at once and signs in an hour, when all verifiers have it, and the key before
 * stays published until its last token has expired. Where the key before is known to others, the new one signs at once, and tokens of
 * the others are refused within ten minutes: apps then exchange their refresh tokens. Keeps secrets.signing-keys.
 */
export async function replaceSigningKey(
  { store, secretKeys }: Pick<SigningKeysOptions, 'store' | 'secretKeys'>,
  { isLeaked }: { readonly isLeaked: boolean },
): Promise<void> {
  await store.change((keys) => ({
    make: makeKey(secretKeys, new Date(Date.now() + (isLeaked ? 0 : KEY_LEAD_MS))),
    deleteIds: isLeaked ? keys.map(({ id }) => id) : [],
  }));
}

function makeKey(secretKeys: SecretKeys, signsFrom: Date): StoredKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty, crv, x = '', y = '' } = publicKey.export({ format: 'jwk' });
  // RFC 7638: the id is the thumbprint of the key.
  const id = sha256(JSON.stringify({ crv, kty, x, y })).toString('base64url');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  return {
    id,
    publicJwk: { kty, crv, x, y, kid: id, alg: 'ES256', use: 'sig' },
    ...sealSecret(secretKeys, id, Buffer.from(pem)),
    signsFrom,
  };
}

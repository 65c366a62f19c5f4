import { createPublicKey, type KeyObject, type webcrypto } from 'node:crypto';
import { Fault, parseJson } from '@wts/contracts';
import { request } from 'undici';
import { readBounded } from './read-bounded.ts';

/** Fetches the text of a key set; by default over the network. */
export type FetchJwks = (uri: string) => Promise<Uint8Array>;

interface VerificationKey {
  readonly kid: string;
  readonly algorithm: string | undefined;
  readonly key: KeyObject;
}

/** A key that the identity provider removed is refused after this at the latest. */
const AGE_MAX_MS = 10 * 60_000;
/** Unknown `kid`s cause a fetch at most this often, because callers can make them up. */
const COOLDOWN_MS = 30_000;
/** Without a first set no token can be verified, so it is fetched more often. */
const COOLDOWN_EMPTY_MS = 1_000;
const FETCH_TIMEOUT_MS = 5_000;
const SET_BYTES_MAX = 64 * 1024;
const RSA_BITS_MIN = 2048;

/**
 * The public keys of one issuer. The last valid set stays in use while the provider is down; the tokens of a provider that was never
 * reached are `unavailable`, not invalid.
 */
export class Jwks {
  readonly #uri: string;
  readonly #fetch: FetchJwks;
  #keys: readonly VerificationKey[] | null = null;
  #loadedAtMs = -Infinity;
  #triedAtMs = -Infinity;
  #loading: Promise<void> | null = null;
  #isFailing = false;

  constructor(uri: string, fetch: FetchJwks = fetchKeySet) {
    this.#uri = uri;
    this.#fetch = fetch;
  }

  /** The key with exactly this `kid` for this algorithm; undefined when the provider has none. */
  async find(kid: string, algorithm: string, nowMs: number): Promise<KeyObject | undefined> {
    if (elapsedMs(this.#loadedAtMs, nowMs) > AGE_MAX_MS) {
      const refreshed = this.#refresh(nowMs);
      // A provider that failed may hang again, so a cached key is used without waiting.
      if (!this.#isFailing || this.#keys === null) await refreshed;
    }
    const cached = this.#pick(kid, algorithm);
    if (cached !== undefined) return cached;
    await this.#refresh(nowMs);
    if (this.#keys === null) throw new Fault('unavailable');
    return this.#pick(kid, algorithm);
  }

  #pick(kid: string, algorithm: string): KeyObject | undefined {
    const type = algorithm.startsWith('ES') ? 'ec' : 'rsa';
    return this.#keys?.find(
      (candidate) =>
        candidate.kid === kid &&
        candidate.key.asymmetricKeyType === type &&
        (candidate.algorithm === undefined || candidate.algorithm === algorithm),
    )?.key;
  }

  /** Awaits a fetch under way, else starts one unless the last one is too recent. Never throws: the old set stays. */
  async #refresh(nowMs: number): Promise<void> {
    if (this.#loading === null) {
      const cooldownMs = this.#keys === null ? COOLDOWN_EMPTY_MS : COOLDOWN_MS;
      if (elapsedMs(this.#triedAtMs, nowMs) < cooldownMs) return;
      this.#triedAtMs = nowMs;
      this.#loading = this.#load(nowMs).finally(() => {
        this.#loading = null;
      });
    }
    await this.#loading;
  }

  async #load(nowMs: number): Promise<void> {
    let keys: readonly VerificationKey[] = [];
    try {
      keys = readKeySet(await this.#fetch(this.#uri));
    } catch {
      // The current set stays; without one, tokens are `unavailable`.
    }
    // An empty set is a fault of the provider; using it would refuse all its tokens.
    this.#isFailing = keys.length === 0;
    if (this.#isFailing) return;
    this.#keys = keys;
    this.#loadedAtMs = nowMs;
  }
}

/** Since a time in the future, for ever: the clock was set back, and new keys must not stay unknown until it has caught up. */
function elapsedMs(sinceMs: number, nowMs: number): number {
  return nowMs < sinceMs ? Infinity : nowMs - sinceMs;
}

function readKeySet(bytes: Uint8Array): VerificationKey[] {
  const set = parseJson(bytes) as { keys?: unknown } | null;
  if (!Array.isArray(set?.keys)) throw new Error('The key set has no list of keys.');
  return set.keys.flatMap((entry) => readKey(entry) ?? []);
}

/** Null for a key that must not verify tokens: symmetric, private, for encryption, too short, of an unknown kind. */
function readKey(entry: unknown): VerificationKey | null {
  if (typeof entry !== 'object' || entry === null) return null;
  const jwk = entry as webcrypto.JsonWebKey & Record<string, unknown>;
  if (typeof jwk.kid !== 'string' || (jwk.kty !== 'RSA' && jwk.kty !== 'EC')) return null;
  if ('d' in jwk || (jwk.use !== undefined && jwk.use !== 'sig')) return null;
  if (jwk.key_ops !== undefined && !(Array.isArray(jwk.key_ops) && jwk.key_ops.includes('verify'))) return null;
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    if (jwk.kty === 'RSA' && (key.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS_MIN) return null;
    return { kid: jwk.kid, algorithm: typeof jwk.alg === 'string' ? jwk.alg : undefined, key };
  } catch {
    return null;
  }
}

/**
 * One GET with a deadline over everything; a redirect is a failure, because only the configured address is used. It may be private, as that of
 * auth itself is: the operator alone chooses it, and no token or metadata does.
 */
export async function fetchKeySet(uri: string, timeoutMs: number = FETCH_TIMEOUT_MS): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(timeoutMs);
  const { statusCode, body } = await request(uri, { signal, headers: { accept: 'application/json' } });
  const set = await readBounded(body, SET_BYTES_MAX);
  if (statusCode !== 200) throw new Error(`The reply with the key set has status ${statusCode}.`);
  return set;
}

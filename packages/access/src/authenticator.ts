import { createHash } from 'node:crypto';
import { Fault, LIMITS, SCOPES, type ErrorCode, type Principal, type Revocation } from '@wts/contracts';
import { principalOfAccessToken, type AccessTokens } from './access-token.ts';
import { readApiKey } from './api-key.ts';
import { LRUCache } from 'lru-cache';
import { API_RESOURCE, credentialFault, type ProtectedResource } from './challenge.ts';
import { concerns } from './concerns.ts';
import { identityOf, type TokenIdentity } from './identity-of.ts';
import type { Issuer } from './issuers.ts';
import type { FetchJwks } from './jwks.ts';
import { verifyJwt, type VerifiedJwt } from './jwt.ts';

export interface AuthenticatorOptions {
  /** The identity providers. */
  readonly issuers: readonly Issuer[];
  /** Our own authorization server. */
  readonly accessTokens: AccessTokens;
  readonly apiKeyPrefix: string;
  /** Null when no valid key has this hash. */
  readonly resolveApiKey: (hash: string, sender: string) => Promise<Principal | null>;
  /** The user id of the person, who is created when they are new; null for a person who is disabled. */
  readonly resolvePerson: (identity: TokenIdentity, sender: string) => Promise<string | null>;
  readonly fetchJwks?: FetchJwks;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

export interface Authenticator {
  /**
   * `headers` are all values of the Authorization header. Throws the four faults of a bad credential. `sender` is passed to the
   * look-ups, which are limited by sender. The faults have the challenge of the resource, for which an access token must be.
   */
  authenticate(headers: readonly string[], sender?: string, resource?: ProtectedResource): Promise<Principal>;
  authenticateToken(token: string, sender?: string, resource?: ProtectedResource): Promise<Principal>;
  /** Drops a credential, or those of a person, from the cache, and repeats look-ups of them that are under way. */
  revoke(revocation: Revocation): void;
  close(): void;
}

/** A valid credential. */
interface Accepted {
  readonly principal: Principal;
  /** Of an access token; null for a credential that is for all resources. */
  readonly audiences: readonly unknown[] | null;
}

interface Cached<Outcome> {
  readonly outcome: Outcome;
  readonly fromMs: number;
  readonly untilMs: number;
}

const CACHED_MAX = 10_000;
/** A refused credential is looked up again after this, because a new key must soon work. */
const REFUSED_MS = 1_000;
/** RFC 6750 section 2.1: the scheme (in any case, RFC 9110 section 11.1), spaces, one b64token. */
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Resolves credentials to principals, for the gateway and the socket server.
 * Keeps authentication.api-key.accepted, authentication.jwt.accepted, authentication.oauth.revoked.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const clock = options.clock ?? Date.now;
  const issuers = issuersOf(options);
  const accepted = new LRUCache<string, Cached<Accepted>>({ max: CACHED_MAX });
  // A cache of its own, so that invalid credentials cannot evict valid ones.
  const refused = new LRUCache<string, Cached<Fault>>({ max: CACHED_MAX });
  let current = new LookUpGeneration();
  const [api] = options.accessTokens.issuer.audiences;
  const audienceOf = ({ audience = api }: ProtectedResource): string | undefined => audience;

  async function lookUp(token: string, generation: LookUpGeneration, sender: string): Promise<Accepted> {
    try {
      const found = await resolve(token, { ...options, issuers }, clock, sender);
      const { principal } = found;
      // The result may be older than the revocation, and the caller may open a socket with it.
      if (generation.isRevokedSince(principal)) return await accept(token, sender);
      const credentialEndsMs = principal.expiresAt === undefined ? Infinity : principal.expiresAt * 1000;
      const fromMs = clock();
      const untilMs = Math.min(fromMs + LIMITS.credentialCacheMs, credentialEndsMs);
      if (generation === current) accepted.set(token, { outcome: found, fromMs, untilMs });
      return found;
    } catch (failure) {
      if (generation === current && isRefusal(failure)) {
        const fromMs = clock();
        refused.set(token, { outcome: failure, fromMs, untilMs: fromMs + REFUSED_MS });
      }
      throw failure;
    } finally {
      generation.lookUps.delete(token);
    }
  }

  async function accept(token: string, sender: string): Promise<Accepted> {
    if (token.length > LIMITS.credentialChars) throw refusal(codeFor(token, options.apiKeyPrefix));
    const known = accepted.peek(token);
    if (known !== undefined && isFresh(known, clock())) return known.outcome;
    const fault = refused.peek(token);
    // With its text, which says what to do.
    if (fault !== undefined && isFresh(fault, clock())) throw fault.outcome;
    let pending = current.lookUps.get(token);
    if (pending === undefined) {
      pending = lookUp(token, current, sender);
      current.lookUps.set(token, pending);
    }
    return pending;
  }

  return {
    authenticateToken: (token, sender = '', resource = API_RESOURCE) =>
      checkFor(audienceOf(resource), resource, async () => accept(token, sender)),
    authenticate: (headers, sender = '', resource = API_RESOURCE) =>
      checkFor(audienceOf(resource), resource, async () => accept(readHeader(headers), sender)),
    revoke(revocation) {
      current = current.end(revocation);
      const ended = [...accepted.entries()].filter(([, { outcome }]) => concerns(revocation, outcome.principal));
      for (const [token] of ended) accepted.delete(token);
      refused.clear();
    },
    close() {
      current = new LookUpGeneration();
      accepted.clear();
      refused.clear();
    },
  };
}

/** Not before it was stored: when the clock is set back, a revocation whose message was lost must not wait until it has caught up. */
function isFresh({ fromMs, untilMs }: Cached<unknown>, nowMs: number): boolean {
  return fromMs <= nowMs && nowMs < untilMs;
}

function issuersOf({ issuers, accessTokens }: AuthenticatorOptions): readonly Issuer[] {
  if (issuers.some(({ issuer }) => issuer === accessTokens.issuer.issuer))
    throw new Error('The authorization server cannot be an identity provider too: JWT_ISSUERS must not name AUTH_URL.');
  return [...issuers, accessTokens.issuer];
}

/**
 * The principal, when the credential is for this resource. One look-up serves requests to several resources, so the challenge is
 * added here. Keeps errors.401.www-authenticate, authentication.mcp.audience.
 */
async function checkFor(
  audience: string | undefined,
  resource: ProtectedResource,
  accept: () => Promise<Accepted>,
): Promise<Principal> {
  try {
    const { principal, audiences } = await accept();
    if (audiences === null || audiences.includes(audience)) return principal;
    throw refusal('token_invalid', new Error(`the access token is not for ${audience}`));
  } catch (failure) {
    if (!(failure instanceof Fault) || failure.status !== 401) throw failure;
    throw credentialFault(failure.code, resource, { cause: failure.cause });
  }
}

/** Look-ups between two revocations, one per token at a time. Bounded by the requests under way. */
class LookUpGeneration {
  readonly lookUps = new Map<string, Promise<Accepted>>();
  #ended: { readonly by: Revocation; readonly next: LookUpGeneration } | null = null;

  /** The generation of look-ups that begin after the revocation. */
  end(by: Revocation): LookUpGeneration {
    const next = new LookUpGeneration();
    this.#ended = { by, next };
    return next;
  }

  /** True when this principal was revoked after this generation began. */
  isRevokedSince(principal: Principal): boolean {
    for (let ended = this.#ended; ended !== null; ended = ended.next.#ended) {
      if (concerns(ended.by, principal)) return true;
    }
    return false;
  }
}

// Keeps errors.401.no-header, errors.401.bad-format.
function readHeader(headers: readonly string[]): string {
  const [header, ...more] = headers;
  if (header === undefined || (header.trim() === '' && more.length === 0)) throw refusal('authorization_required');
  // Of two headers, other software might use either one.
  const token = more.length === 0 ? bearer.exec(header)?.[1] : undefined;
  if (token === undefined) throw refusal('authorization_malformed');
  return token;
}

/**
 * The prefix decides the kind, so that a mistyped key gets the error of a key.
 * Keeps errors.401.bad-key, errors.401.bad-jwt.
 */
function codeFor(token: string, apiKeyPrefix: string): ErrorCode {
  return token.startsWith(apiKeyPrefix) ? 'api_key_invalid' : 'token_invalid';
}

async function resolve(
  token: string,
  options: AuthenticatorOptions,
  clock: () => number,
  sender: string,
): Promise<Accepted> {
  if (codeFor(token, options.apiKeyPrefix) === 'api_key_invalid') {
    const key = readApiKey(token, options.apiKeyPrefix);
    const principal = key === null ? null : await options.resolveApiKey(key.hash, sender);
    const hasExpired = principal?.expiresAt !== undefined && principal.expiresAt * 1000 <= clock();
    if (principal === null || hasExpired) throw refusal('api_key_invalid');
    return { principal, audiences: null };
  }
  const verified = await verify(token, options, clock);
  if (verified.issuer === options.accessTokens.issuer.issuer) {
    const { aud } = verified.claims;
    const principal = await principalOfAccessToken(verified, options.accessTokens, sender);
    return { principal, audiences: Array.isArray(aud) ? aud : [aud] };
  }
  const trustsEmails = options.issuers.find(({ issuer }) => issuer === verified.issuer)?.trustsEmails === true;
  const userId = await options.resolvePerson(identityOf(verified, trustsEmails), sender);
  if (userId === null) throw refusal('token_invalid', new Error('the person is disabled'));
  // Keeps authentication.jwt.all-scopes.
  const id = createHash('sha256').update(token).digest('hex').slice(0, 32);
  const principal: Principal = {
    userId,
    scopes: SCOPES,
    credential: { kind: 'jwt', id },
    expiresAt: verified.expiresAt,
  };
  return { principal, audiences: null };
}

async function verify(token: string, options: AuthenticatorOptions, clock: () => number): Promise<VerifiedJwt> {
  const now = Math.floor(clock() / 1000);
  const fetch = options.fetchJwks === undefined ? {} : { fetchJwks: options.fetchJwks };
  try {
    return await verifyJwt(token, options.issuers, { now, ...fetch });
  } catch (failure) {
    if (failure instanceof Fault && failure.code === 'token_invalid') throw refusal('token_invalid', failure);
    throw failure;
  }
}

const REFUSALS: readonly ErrorCode[] = ['api_key_invalid', 'token_invalid', 'second_factor_required'];

function isRefusal(failure: unknown): failure is Fault {
  return failure instanceof Fault && REFUSALS.includes(failure.code);
}

function refusal(code: ErrorCode, cause?: unknown): Fault {
  return new Fault(code, { cause });
}

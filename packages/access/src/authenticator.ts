import { createHash } from 'node:crypto';
import type { ErrorCode, Principal, Revocation } from '@wts/contracts';
import { Fault, LIMITS, SCOPES } from '@wts/contracts';
import { readApiKey } from './api-key.ts';
import { BoundedMap } from './bounded-map.ts';
import type { Issuer } from './issuers.ts';
import type { FetchJwks } from './jwks.ts';
import type { VerifiedJwt } from './jwt.ts';
import { verifyJwt } from './jwt.ts';

/** What a verified JWT says of a person; the workspace service turns it into a user. */
export interface TokenIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly name?: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly avatarUrl?: string;
}

export interface AuthenticatorOptions {
  readonly issuers: readonly Issuer[];
  readonly apiKeyPrefix: string;
  /** Null when no living key has this hash. */
  readonly resolveApiKey: (hash: string, sender: string) => Promise<Principal | null>;
  /** The user id of the person, created on first sight. */
  readonly resolvePerson: (identity: TokenIdentity, sender: string) => Promise<string>;
  readonly fetchJwks?: FetchJwks;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

export interface Authenticator {
  /**
   * `headers` are all values of the Authorization header. Throws the four faults of a bad credential. `sender` is passed on
   * to the look-ups that are needed, for which senders may have to wait.
   */
  authenticate(headers: readonly string[], sender?: string): Promise<Principal>;
  authenticateToken(token: string, sender?: string): Promise<Principal>;
  /** Drops what is remembered of a credential or person, at once and also for look-ups under way. */
  revoke(revocation: Revocation): void;
  close(): void;
}

interface Remembered<Outcome> {
  readonly outcome: Outcome;
  readonly untilMs: number;
}

const REMEMBERED_MAX = 10_000;
/** A refused credential is asked about again after this long: a key made a moment ago must soon work. */
const REFUSED_MS = 1_000;
/** RFC 6750 section 2.1: the scheme (in any case, RFC 9110 section 11.1), spaces, one b64token. */
const bearer = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

/**
 * Credential -> principal, for the gateway and the socket server.
 * Keeps authentication.api-key.accepted, authentication.jwt.accepted.
 */
export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const clock = options.clock ?? Date.now;
  const remembered = new BoundedMap<string, Remembered<Principal>>(REMEMBERED_MAX);
  // Apart from each other, so that no number of made-up credentials drives a good one out.
  const refused = new BoundedMap<string, Remembered<Fault>>(REMEMBERED_MAX);
  let underWay = new Round();

  async function lookUp(token: string, round: Round, sender: string): Promise<Principal> {
    try {
      const principal = await resolve(token, options, clock, sender);
      // What was read may be older than the revocation. Whoever waits for it could be about to open a socket on it.
      if (round.hasEndedFor(principal)) return await authenticateToken(token, sender);
      const credentialEndsMs = principal.expiresAt === undefined ? Infinity : principal.expiresAt * 1000;
      const untilMs = Math.min(clock() + LIMITS.credentialCacheMs, credentialEndsMs);
      if (round === underWay) remembered.set(token, { outcome: principal, untilMs });
      return principal;
    } catch (failure) {
      if (round === underWay && isRefusal(failure)) {
        refused.set(token, { outcome: failure, untilMs: clock() + REFUSED_MS });
      }
      throw failure;
    } finally {
      round.flights.delete(token);
    }
  }

  async function authenticateToken(token: string, sender = ''): Promise<Principal> {
    if (token.length > LIMITS.credentialChars) throw refusal(codeFor(token, options.apiKeyPrefix));
    const known = remembered.get(token);
    if (known !== undefined && clock() < known.untilMs) return known.outcome;
    const unknown = refused.get(token);
    if (unknown !== undefined && clock() < unknown.untilMs) throw refusal(unknown.outcome.code);
    let flight = underWay.flights.get(token);
    if (flight === undefined) {
      flight = lookUp(token, underWay, sender);
      underWay.flights.set(token, flight);
    }
    return flight;
  }

  return {
    authenticateToken,
    authenticate: async (headers, sender) => authenticateToken(readHeader(headers), sender),
    revoke(revocation) {
      underWay = underWay.end(revocation);
      remembered.deleteWhere(({ outcome }) => isMeant(revocation, outcome));
      refused.clear();
    },
    close() {
      underWay = new Round();
      remembered.clear();
      refused.clear();
    },
  };
}

/** Look-ups between two revocations, one per token at a time. Bounded by the requests in progress. */
class Round {
  readonly flights = new Map<string, Promise<Principal>>();
  #ended: { readonly by: Revocation; readonly next: Round } | null = null;

  /** The round of look-ups that begin after the revocation. */
  end(by: Revocation): Round {
    const next = new Round();
    this.#ended = { by, next };
    return next;
  }

  /** True when this principal, read in this round, was revoked since the round began. */
  hasEndedFor(principal: Principal): boolean {
    for (let ended = this.#ended; ended !== null; ended = ended.next.#ended) {
      if (isMeant(ended.by, principal)) return true;
    }
    return false;
  }
}

// Keeps errors.401.no-header, errors.401.bad-format.
function readHeader(headers: readonly string[]): string {
  const [header, ...more] = headers;
  if (header === undefined || (header.trim() === '' && more.length === 0)) throw refusal('authorization_required');
  // Two headers could be read as either by the next reader.
  const token = more.length === 0 ? bearer.exec(header)?.[1] : undefined;
  if (token === undefined) throw refusal('authorization_malformed');
  return token;
}

function isMeant(revocation: Revocation, principal: Principal): boolean {
  if (revocation.credentialId !== undefined) return principal.credential.id === revocation.credentialId;
  if (revocation.userId !== undefined) return principal.userId === revocation.userId;
  // A revocation that names nobody is of a newer kind: forgetting too much is safe.
  return true;
}

/**
 * The prefix decides the kind, so that a mistyped key is told to be a bad key.
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
): Promise<Principal> {
  if (codeFor(token, options.apiKeyPrefix) === 'api_key_invalid') {
    const key = readApiKey(token, options.apiKeyPrefix);
    const principal = key === null ? null : await options.resolveApiKey(key.hash, sender);
    const isDead = principal?.expiresAt !== undefined && principal.expiresAt * 1000 <= clock();
    if (principal === null || isDead) throw refusal('api_key_invalid');
    return principal;
  }
  const verified = await verify(token, options, clock);
  const userId = await options.resolvePerson(identityOf(verified, options.issuers), sender);
  // Keeps authentication.jwt.all-scopes.
  const id = createHash('sha256').update(token).digest('hex').slice(0, 32);
  return { userId, scopes: SCOPES, credential: { kind: 'jwt', id }, expiresAt: verified.expiresAt };
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

function identityOf({ issuer, subject, claims }: VerifiedJwt, issuers: readonly Issuer[]): TokenIdentity {
  const { name, email, picture } = claims;
  const emailVerified = isVerified(claims, issuers.find((one) => one.issuer === issuer)?.trustsEmails === true);
  return {
    issuer,
    subject,
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof email === 'string' ? { email } : {}),
    ...(emailVerified === undefined ? {} : { emailVerified }),
    ...(typeof picture === 'string' ? { avatarUrl: picture } : {}),
  };
}

/**
 * Some providers write the claim as text; `true` and `"true"` verify the address, any other value does not. Undefined when
 * the token has no such claim and its issuer is not trusted without it. Keeps authentication.jwt.email-verified.
 */
function isVerified(claims: VerifiedJwt['claims'], trustsEmails: boolean): boolean | undefined {
  if (!Object.hasOwn(claims, 'email_verified')) return trustsEmails ? true : undefined;
  const claim = claims['email_verified'];
  return claim === true || claim === 'true';
}

const REFUSALS: readonly ErrorCode[] = ['api_key_invalid', 'token_invalid'];

function isRefusal(failure: unknown): failure is Fault {
  return failure instanceof Fault && REFUSALS.includes(failure.code);
}

/** RFC 6750 section 3.1: no `error` for a request that brought no credential. Keeps errors.401.www-authenticate. */
const CHALLENGES: Partial<Record<ErrorCode, string>> = {
  authorization_required: 'Bearer realm="api"',
  authorization_malformed: 'Bearer realm="api", error="invalid_request"',
  api_key_invalid: 'Bearer realm="api", error="invalid_token"',
  token_invalid: 'Bearer realm="api", error="invalid_token"',
};

function refusal(code: ErrorCode, cause?: unknown): Fault {
  return new Fault(code, { headers: { 'WWW-Authenticate': CHALLENGES[code] ?? 'Bearer realm="api"' }, cause });
}

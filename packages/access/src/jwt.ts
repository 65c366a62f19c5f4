import type { KeyObject } from 'node:crypto';
import { Fault, LIMITS, parseJson } from '@wts/contracts';
import jwt from 'jsonwebtoken';
import type { Algorithm, Issuer } from './issuers.ts';
import { Jwks, type FetchJwks } from './jwks.ts';

export interface VerifiedJwt {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Unix seconds. */
  readonly expiresAt: number;
}

interface VerifyOptions {
  /** Unix seconds; the clock when left out. */
  readonly now?: number;
  readonly fetchJwks?: FetchJwks;
}

/** A clock of an identity provider may be ahead of ours by this much when it sets `iat`. */
const ISSUED_AHEAD_SECONDS_MAX = 60;
/** `nbf` is a statement, not a measurement; it only gets what two synchronized clocks differ by. */
const NOT_BEFORE_SKEW_SECONDS = 5;
const SUBJECT_CHARS_MAX = 255;
const KID_CHARS_MAX = 256;
/** The last second of the year 9999: anything later is no date. */
const SECONDS_MAX = 253_402_300_799;
/** Headers with a key, or an address of one, or that change how the token is read. */
const REFUSED_HEADERS = ['crit', 'jwk', 'jku', 'x5u', 'x5c', 'zip', 'b64', 'enc', 'epk'] as const;
const compact = /^(?:[A-Za-z0-9_-]+\.){2}[A-Za-z0-9_-]+$/;

/** Key sets are stored as long as their issuer. */
const jwksByIssuer = new WeakMap<Issuer, Jwks>();

/**
 * Verifies a JWT of one of the configured issuers, or throws `token_invalid` (`unavailable` when the issuer's keys could
 * never be fetched). jsonwebtoken checks the signature; this function refuses what it accepts: tokens without
 * `exp`, unknown `crit`, keys or addresses inside the token, a `kid` that names no key of the issuer, numbers as text,
 * keys given twice, more than three parts.
 * Keeps authentication.jwt.strict.
 */
export async function verifyJwt(
  token: string,
  issuers: readonly Issuer[],
  options: VerifyOptions = {},
): Promise<VerifiedJwt> {
  const now = options.now ?? Math.floor(Date.now() / 1000);
  if (token.length > LIMITS.credentialChars || !compact.test(token)) throw refused('shape');
  const [header, claims] = token.split('.', 2).map(readPart) as [JsonObject, JsonObject];
  const issuer = issuers.find((candidate) => candidate.issuer === claims.iss);
  if (issuer === undefined) throw refused('iss');
  const algorithm = checkHeader(header, issuer);
  const { subject, expiresAt } = checkClaims(claims, issuer, now);
  const keys = await keysFor(issuer, { kid: header.kid, algorithm }, now, options.fetchJwks);
  const failures = keys.map((key) => failureOf(token, key, { issuer, algorithm, now }));
  if (!failures.includes(null)) throw refused('signature', failures[0]);
  return { issuer: issuer.issuer, subject, claims, expiresAt };
}

/** Null for a token that the key has signed. */
function failureOf(
  token: string,
  key: KeyObject | string,
  { issuer, algorithm, now }: { readonly issuer: Issuer; readonly algorithm: Algorithm; readonly now: number },
): unknown {
  try {
    jwt.verify(token, key, {
      algorithms: [algorithm],
      issuer: issuer.issuer,
      audience: [...issuer.audiences] as [string, ...string[]],
      clockTimestamp: now,
      clockTolerance: NOT_BEFORE_SKEW_SECONDS,
    });
    return null;
  } catch (failure) {
    return failure;
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function readPart(part: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(Buffer.from(part, 'base64url'));
  } catch (cause) {
    throw refused('json', cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refused('json');
  return value as JsonObject;
}

function checkHeader(header: JsonObject, issuer: Issuer): Algorithm {
  const algorithm = issuer.algorithms.find((allowed) => allowed === header.alg);
  if (algorithm === undefined) throw refused('alg');
  const refusedHeader = REFUSED_HEADERS.find((name) => Object.hasOwn(header, name));
  if (refusedHeader !== undefined) throw refused(refusedHeader);
  const type = header.typ === undefined ? '' : header.typ;
  if (typeof type !== 'string' || !issuer.types.includes(type.toLowerCase())) throw refused('typ');
  return algorithm;
}

function checkClaims(claims: JsonObject, issuer: Issuer, now: number): { subject: string; expiresAt: number } {
  const { exp, nbf, aud } = claims;
  const sub = subjectOf(claims, now);
  if (!isSeconds(exp) || exp <= now) throw refused('exp');
  if (nbf !== undefined && (!isSeconds(nbf) || nbf > now + NOT_BEFORE_SKEW_SECONDS)) throw refused('nbf');
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (!audiences.some((audience) => typeof audience === 'string' && issuer.audiences.includes(audience)))
    throw refused('aud');
  return { subject: sub, expiresAt: exp };
}

/** The subject of a token that was not issued in the future; the same for a token at the API and for one of a sign-in at a provider. */
export function subjectOf({ sub, iat }: JsonObject, now: number): string {
  if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_CHARS_MAX) throw refused('sub');
  if (iat !== undefined && (!isSeconds(iat) || iat > now + ISSUED_AHEAD_SECONDS_MAX)) throw refused('iat');
  return sub;
}

function isSeconds(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= SECONDS_MAX;
}

async function keysFor(
  issuer: Issuer,
  { kid, algorithm }: { readonly kid: unknown; readonly algorithm: string },
  now: number,
  fetchJwks: FetchJwks | undefined,
): Promise<readonly (KeyObject | string)[]> {
  if ('secrets' in issuer.key) return issuer.key.secrets;
  if (typeof kid !== 'string' || kid === '' || kid.length > KID_CHARS_MAX) throw refused('kid');
  const { jwksUri, fetch = fetchJwks } = issuer.key;
  const jwks = jwksByIssuer.getOrInsertComputed(issuer, () => new Jwks(jwksUri, fetch));
  const key = await jwks.find(kid, algorithm, now * 1000);
  if (key === undefined) throw refused('kid');
  return [key];
}

/** Callers get `token_invalid`; the check that refused it is in the log. */
function refused(check: string, cause?: unknown): Fault {
  return new Fault('token_invalid', { cause: new Error(`JWT refused: ${check}`, { cause }) });
}

import type { Principal } from '@wts/contracts';
import { Fault, LIMITS, SCOPES } from '@wts/contracts';
import jwt from 'jsonwebtoken';
import { BoundedMap } from './bounded-map.ts';

/**
 * The internal token: how the gateway, or any service, tells another on whose behalf it calls. It lives a minute, so a
 * leaked one is soon worthless; minting and checking cost a hash each, so both are remembered.
 */
const ISSUER = 'wts-internal';
/** A token in use is replaced when this old, so the receiver always sees at least 40 s left. */
const REMINT_SECONDS = 20;
/** Hosts of one cluster may disagree on the time by this much. */
const CLOCK_SKEW_SECONDS = 5;
const REMEMBERED_MAX = 10_000;

interface Minted {
  readonly token: string;
  readonly at: number;
}
interface Verified {
  readonly principal: Principal;
  readonly secret: string;
  readonly expiresAt: number;
}

const mintedByPrincipal = new WeakMap<Principal, Minted & { secret: string }>();
const mintedByContent = new BoundedMap<string, Minted>(REMEMBERED_MAX);
const verifiedByToken = new BoundedMap<string, Verified>(REMEMBERED_MAX);

/** A token that carries `principal`, valid for LIMITS.internalTokenSeconds from when it was minted. */
export function mintInternalToken(principal: Principal, secret: string, nowSeconds: number = clock()): string {
  const known = mintedByPrincipal.get(principal);
  if (known?.secret === secret && isFresh(known, nowSeconds)) return known.token;
  const content = JSON.stringify([
    secret,
    principal.userId,
    principal.scopes,
    principal.credential.kind,
    principal.credential.id,
    principal.workspaceId ?? null,
    principal.expiresAt ?? null,
  ]);
  let minted = mintedByContent.get(content);
  if (minted === undefined || !isFresh(minted, nowSeconds)) {
    minted = { token: sign(principal, secret, nowSeconds), at: nowSeconds };
    mintedByContent.set(content, minted);
  }
  mintedByPrincipal.set(principal, { ...minted, secret });
  return minted.token;
}

function isFresh(minted: Minted, nowSeconds: number): boolean {
  return nowSeconds >= minted.at && nowSeconds - minted.at < REMINT_SECONDS;
}

function sign(principal: Principal, secret: string, nowSeconds: number): string {
  const claims = {
    iss: ISSUER,
    sub: principal.userId,
    iat: nowSeconds,
    exp: nowSeconds + LIMITS.internalTokenSeconds,
    scopes: principal.scopes,
    credential: principal.credential,
    ...(principal.workspaceId === undefined ? {} : { workspaceId: principal.workspaceId }),
    ...(principal.expiresAt === undefined ? {} : { expiresAt: principal.expiresAt }),
  };
  return jwt.sign(claims, secret, { algorithm: 'HS256' });
}

/** The principal a token carries. Throws `token_invalid` for anything this secret did not sign within the last minute. */
export function verifyInternalToken(token: string, secret: string, nowSeconds: number = clock()): Principal {
  const known = verifiedByToken.get(token);
  if (known?.secret === secret && nowSeconds < known.expiresAt) return known.principal;
  const claims = claimsOf(token, secret, nowSeconds);
  const principal = principalOf(claims);
  if (principal === null) throw new Fault('token_invalid');
  const expiresAt = (claims as { exp: number }).exp + CLOCK_SKEW_SECONDS;
  verifiedByToken.set(token, { principal, secret, expiresAt });
  return principal;
}

function claimsOf(token: string, secret: string, nowSeconds: number): unknown {
  try {
    return jwt.verify(token, secret, {
      algorithms: ['HS256'],
      issuer: ISSUER,
      clockTimestamp: nowSeconds,
      clockTolerance: CLOCK_SKEW_SECONDS,
    });
  } catch (cause) {
    throw new Fault('token_invalid', { cause });
  }
}

const KINDS: readonly unknown[] = ['api_key', 'jwt', 'oauth', 'service'];

function principalOf(claims: unknown): Principal | null {
  if (typeof claims !== 'object' || claims === null) return null;
  const { sub, exp, scopes, credential, workspaceId, expiresAt } = claims as Record<string, unknown>;
  if (typeof sub !== 'string' || sub === '' || typeof exp !== 'number') return null;
  if (!Array.isArray(scopes) || !scopes.every((scope) => (SCOPES as readonly unknown[]).includes(scope))) return null;
  if (typeof credential !== 'object' || credential === null) return null;
  const { kind, id } = credential as Record<string, unknown>;
  if (!KINDS.includes(kind) || typeof id !== 'string') return null;
  return Object.freeze({
    userId: sub,
    scopes: scopes as Principal['scopes'],
    credential: { kind: kind as Principal['credential']['kind'], id },
    ...(typeof workspaceId === 'string' ? { workspaceId } : {}),
    ...(typeof expiresAt === 'number' ? { expiresAt } : {}),
  });
}

function clock(): number {
  return Math.floor(Date.now() / 1000);
}

import type { Principal } from '@wts/contracts';
import { Fault, LIMITS, SCOPES } from '@wts/contracts';
import jwt from 'jsonwebtoken';
import { BoundedMap } from './bounded-map.ts';

/**
 * The internal token names the service that calls, the service that is called, and the principal. It is valid for a minute, so a
 * leaked one soon expires, and for one service only, so a service cannot pass it on. Minting and checking take a hash each, so
 * both are cached.
 */
const ISSUER = 'wts-internal';
/** A token is minted again at this age, so it is valid for at least 40 s when it is sent. */
const REMINT_SECONDS = 20;
/** The clocks of a cluster may differ by this much. */
const CLOCK_SKEW_SECONDS = 5;
const CACHED_MAX = 10_000;

export interface TokenRoute {
  /** The service that calls. */
  readonly from: string;
  /** The service that is called. */
  readonly to: string;
  readonly secret: string;
}

/** A token that carries this principal, valid for LIMITS.internalTokenSeconds from when it was minted. */
export type MintToken = (principal: Principal, nowSeconds?: number) => string;

/** The content of a token: the principal and the service that calls. */
export interface InternalCall {
  readonly principal: Principal;
  readonly caller: string;
}

/** Reads a token. Throws `token_invalid` for a token of another service, or one older than a minute. */
export type ReadToken = (token: string, nowSeconds?: number) => InternalCall;

interface Minted {
  readonly token: string;
  readonly at: number;
}

/** Mints the tokens of calls of one service to another. */
export function tokenMinter(route: TokenRoute): MintToken {
  const byPrincipal = new WeakMap<Principal, Minted>();
  const byContent = new BoundedMap<string, Minted>(CACHED_MAX);
  return (principal, nowSeconds = clock()) => {
    const cached = byPrincipal.get(principal);
    if (cached !== undefined && isFresh(cached, nowSeconds)) return cached.token;
    const content = contentOf(principal);
    let minted = byContent.get(content);
    if (minted === undefined || !isFresh(minted, nowSeconds)) {
      minted = { token: sign(principal, route, nowSeconds), at: nowSeconds };
      byContent.set(content, minted);
    }
    byPrincipal.set(principal, minted);
    return minted.token;
  };
}

function contentOf({ userId, scopes, credential, workspaceId, expiresAt }: Principal): string {
  return JSON.stringify([userId, scopes, credential.kind, credential.id, workspaceId ?? null, expiresAt ?? null]);
}

function isFresh(minted: Minted, nowSeconds: number): boolean {
  return nowSeconds >= minted.at && nowSeconds - minted.at < REMINT_SECONDS;
}

function sign(principal: Principal, { from, to, secret }: TokenRoute, nowSeconds: number): string {
  const claims = {
    iss: ISSUER,
    aud: to,
    act: from,
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

/** Reads the tokens of calls to `service`. Any of the secrets may have signed: there are two while one replaces the other. */
export function tokenReader(service: string, secrets: readonly [string, ...string[]]): ReadToken {
  const cache = new BoundedMap<string, InternalCall & { readonly expiresAt: number }>(CACHED_MAX);
  return (token, nowSeconds = clock()) => {
    const cached = cache.get(token);
    if (cached !== undefined && nowSeconds < cached.expiresAt) return cached;
    const claims = claimsOf(token, secrets, nowSeconds);
    const call = callOf(claims, service, nowSeconds);
    cache.set(token, call);
    return call;
  };
}

function claimsOf(token: string, secrets: readonly string[], nowSeconds: number): unknown {
  let refusal: unknown;
  for (const secret of secrets) {
    try {
      return jwt.verify(token, secret, {
        algorithms: ['HS256'],
        issuer: ISSUER,
        clockTimestamp: nowSeconds,
        clockTolerance: CLOCK_SKEW_SECONDS,
      });
    } catch (cause) {
      refusal = cause;
    }
  }
  throw refused('not signed by a secret of this cluster, or too old', refusal);
}

// Keeps authentication.internal.audience.
function callOf(claims: unknown, service: string, nowSeconds: number): InternalCall & { readonly expiresAt: number } {
  const { aud, act, iat, exp } = (claims ?? {}) as Record<string, unknown>;
  // A list is refused too, because a token is for one service.
  if (aud !== service) throw refused(`for ${JSON.stringify(aud)}, and this is ${service}`);
  if (typeof act !== 'string' || act === '') throw refused('without the name of the service that calls');
  if (typeof iat !== 'number' || typeof exp !== 'number') throw refused('without iat and exp');
  if (iat > nowSeconds + CLOCK_SKEW_SECONDS) throw refused('from the future');
  if (!(exp - iat <= LIMITS.internalTokenSeconds)) throw refused(`valid for ${exp - iat} s`);
  const principal = principalOf(claims);
  if (principal === null) throw refused('without a principal');
  return Object.freeze({ principal, caller: act, expiresAt: exp + CLOCK_SKEW_SECONDS });
}

/** The text is for logs; callers get the code alone. */
function refused(why: string, cause?: unknown): Fault {
  return new Fault('token_invalid', { cause: new Error(`an internal token ${why}`, { cause }) });
}

const KINDS: readonly unknown[] = ['api_key', 'jwt', 'oauth', 'service'];

function principalOf(claims: unknown): Principal | null {
  const { sub, scopes, credential, workspaceId, expiresAt } = (claims ?? {}) as Record<string, unknown>;
  if (typeof sub !== 'string' || sub === '') return null;
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

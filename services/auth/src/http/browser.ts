import type { IncomingMessage } from 'node:http';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Visitor } from '../domain/security-event.ts';
import { sha256 } from '../domain/sha256.ts';
import type { Site } from '../pages/layout.ts';
import type { Session, Sessions } from '../store/sessions.ts';
import { AUTH_LIMITS } from '../limits.ts';

/** Of 256 bits, or an API key. */
const SECRET = /^[\w-]{43,128}$/;
/** Browsers keep a cookie for at most 400 days. */
const BROWSER_SECONDS = 400 * 24 * 60 * 60;
/** From the redirect after a form to the page that it leads to. */
const NEW_KEY_SECONDS = 60;
type CookieName = 'session' | 'browser' | 'new_key';

/** A browser as its cookies identify it. Both cookies of it hold secrets of 256 bits. */
export interface Browser {
  /** Identifies the browser before and between sessions: pending requests belong to it, and places where people signed in. */
  readonly id: string;
  readonly isNew: boolean;
  readonly session: Session | null;
  readonly sessionSecret: string | null;
  /** The token of an API key that this browser just created, which is stored nowhere else. */
  readonly newKey: string | null;
}

export async function readBrowser(
  req: IncomingMessage,
  site: Site,
  sessions: Sessions,
  { network }: Pick<Visitor, 'network'>,
): Promise<Browser> {
  const cookies = readCookies(req.headers.cookie);
  const id = cookies.get(cookieName(site, 'browser'));
  const sessionSecret = cookies.get(cookieName(site, 'session'));
  const session = sessionSecret === undefined ? null : await sessions.find(sha256(sessionSecret), network);
  return {
    id: id ?? randomBytes(32).toString('base64url'),
    isNew: id === undefined,
    session,
    sessionSecret: session === null ? null : (sessionSecret ?? null),
    newKey: cookies.get(cookieName(site, 'new_key')) ?? null,
  };
}

/**
 * Of a name given twice, as other sites of the same domain can cause, none counts. Values of other shapes are not ours. Names are compared
 * as they are, because browsers protect only names that begin exactly with `__Host-`.
 */
function readCookies(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0)).replace(/^ /, '');
    const value = pair.slice(at + 1);
    if (!SECRET.test(value)) continue;
    if (cookies.has(name) && cookies.get(name) !== value) repeated.add(name);
    cookies.set(name, value);
  }
  for (const name of repeated) cookies.delete(name);
  return cookies;
}

/** The prefix makes browsers refuse the cookie from another host or without https. Without https there is no such prefix. */
function cookieName({ isHttps }: Site, name: CookieName): string {
  return isHttps ? `__Host-wts_${name}` : `wts_${name}`;
}

function cookie(site: Site, name: CookieName, value: string, maxAgeSeconds: number): string {
  const secure = site.isHttps ? '; Secure' : '';
  return `${cookieName(site, name)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** `Lax`: a link or a redirect from another site brings it, a form of another site does not. */
export function sessionCookie(site: Site, secret: string): string {
  return cookie(site, 'session', secret, AUTH_LIMITS.sessionMs / 1000);
}

export function endedSessionCookie(site: Site): string {
  return cookie(site, 'session', '', 0);
}

/** Carries the token over the redirect, so that a reload of the page after it shows the token no more and creates no other key. */
export function newKeyCookie(site: Site, token: string): string {
  return cookie(site, 'new_key', token, NEW_KEY_SECONDS);
}

export function endedNewKeyCookie(site: Site): string {
  return cookie(site, 'new_key', '', 0);
}

export function browserCookie(site: Site, { id }: Browser): string {
  return cookie(site, 'browser', id, BROWSER_SECONDS);
}

/**
 * The token in the forms of a browser. Other sites cannot read it, and cannot compute it without the cookie. Forms of a session have
 * another one than those before it.
 */
export function formToken({ id, sessionSecret }: Browser, of: 'session' | 'browser'): string {
  return createHmac('sha256', of === 'session' ? (sessionSecret ?? id) : id)
    .update(`form of a ${of}`)
    .digest('base64url');
}

export function isFormToken(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

import { comparableAddress } from '@wts/access';
import { randomUUID } from 'node:crypto';
import type { PeopleContext } from '../context.ts';
import type { Visitor } from '../domain/security-event.ts';
import { sha256 } from '../domain/sha256.ts';
import { ACCOUNT_ISSUER, type Account } from '../store/accounts.ts';
import type { Session } from '../store/sessions.ts';
import type { Counted } from '../store/sign-in-attempts.ts';
import { beginSession } from './begin-session.ts';
import { beginSecondStep, type NextStep } from './begin-second-step.ts';
import { checkCounted, type NotProved } from './check-counted.ts';
import { AUTH_LIMITS } from '../limits.ts';

type CheckContext = Pick<PeopleContext, 'accounts' | 'identities' | 'attempts' | 'passwords' | 'record'>;
type SignInContext = CheckContext &
  Pick<PeopleContext, 'metrics' | 'factors' | 'pending' | 'personOf' | 'notices' | 'issuer'>;

export interface Guest {
  /** The secret of the browser. */
  readonly browserId: string;
  readonly network: string;
  readonly visitor: Visitor;
  readonly signal: AbortSignal;
}

interface SignInAttempt extends Guest {
  readonly email: string;
  readonly password: string;
}

interface SignIn extends SignInAttempt {
  readonly session: Session | null;
  /** What the person does after the sign-in. */
  readonly next: NextStep;
}

/** The secret of a session, or what the page of the second step has. */
type SignedIn =
  | { readonly outcome: 'right'; readonly secret: string }
  | { readonly outcome: 'second step'; readonly step: string };

interface RightPassword {
  readonly outcome: 'right';
  readonly account: Account;
  /** The owner signed in before neither in this browser nor in this network: a private window alone is no news. */
  readonly isNewSignInPlace: boolean;
}

/**
 * Begins a session, in place of the one that the browser has, when the password is right; the second step before it when the account has
 * a second factor.
 */
export async function signInByPassword(
  context: SignInContext,
  { session, next, ...attempt }: SignIn,
): Promise<NotProved | SignedIn> {
  const checked = await checkPassword(context, attempt);
  context.metrics.signIn('password', checked.outcome);
  if (checked.outcome !== 'right') return checked;
  const { account } = checked;
  const userId = await context.personOf(account);
  const { visitor } = attempt;
  if (checked.isNewSignInPlace) await noticeNewSignInPlace(context, userId, visitor);
  if (await context.factors.has(account.id))
    return { outcome: 'second step', step: await beginSecondStep(context, account, next, attempt) };
  await context.attempts.addSignInPlaces(account.id, signInPlacesOf(attempt));
  const secret = await beginSession(context, { userId, account, replaces: session, way: 'with a password', visitor });
  return secret === null ? { outcome: 'wrong' } : { outcome: 'right', secret };
}

/**
 * Checks a password. Failures are counted for the account in this network, for the network, and for the account in all networks, which
 * has a larger bound; after too many, further attempts are refused until the window ends. So an attacker in one network keeps the owner
 * out nowhere else, not in a new browser either. A browser in which the owner signed in before is counted for itself only, so no attacker
 * locks the owner out there, neither by wrong passwords nor by a queue of them. In a network of an earlier sign-in only the failures there
 * count, and they count as those of any address: otherwise colleagues learn who has an account, and guess without a limit. An unknown
 * address takes the same work and gets the same answers as a known one.
 * Keeps authentication.accounts.throttled and authentication.accounts.equal-work.
 */
export async function checkPassword(context: CheckContext, attempt: SignInAttempt): Promise<NotProved | RightPassword> {
  const { accounts, attempts, passwords } = context;
  const email = comparableAddress(attempt.email);
  const account = await accounts.findByEmail(email);
  const [browser, network] = signInPlacesOf(attempt);
  const known = await attempts.knownSignInPlaces(account?.id ?? randomUUID(), [browser, network]);
  const isKnown = (place: Buffer): boolean => known.some((one) => one.equals(place));
  const counted = isKnown(browser)
    ? [countedInBrowser(email, browser)]
    : countedFor(email, attempt.network, isKnown(network));
  const sender = account === null || !isKnown(browser) ? attempt : { ...attempt, knownAs: account.id };
  const checked = await checkCounted(context, counted, () =>
    passwords.verify(attempt.password, account?.passwordHash ?? null, sender),
  );
  if (checked.outcome === 'throttled') return checked;
  if (checked.outcome === 'wrong' || account === null) {
    await recordFailure(context, account, attempt.visitor);
    return { outcome: 'wrong' };
  }
  await attempts.addSignInPlaces(account.id, [browser, network], 'half');
  return { outcome: 'right', account: await renewHash(context, account, sender), isNewSignInPlace: known.length === 0 };
}

async function noticeNewSignInPlace(
  { notices, issuer }: Pick<SignInContext, 'notices' | 'issuer'>,
  userId: string,
  { browser, network }: Visitor,
): Promise<void> {
  const place = { browser: browser ?? 'an unknown browser', network: network ?? 'an unknown network' };
  const data = { url: `${issuer}/account/security`, ...place, at: new Date().toISOString() };
  await notices.send(userId, { kind: 'new-sign-in', data });
}

/** The same work for an unknown address, of which the record says nothing else. */
async function recordFailure(
  { identities, record }: Pick<CheckContext, 'identities' | 'record'>,
  account: Account | null,
  visitor: Visitor,
): Promise<void> {
  const identity = await identities.find({ issuer: ACCOUNT_ISSUER, subject: account?.id ?? randomUUID() });
  const person = identity === null || account === null ? {} : { userId: identity.userId, accountId: account.id };
  const actor = { kind: 'person' } as const;
  await record.add({ kind: 'sign-in-failed', ...person, actor, visitor, details: {} });
}

/** The browser first, because several people may share a network. */
export function signInPlacesOf({
  browserId,
  network,
}: Pick<Guest, 'browserId' | 'network'>): [browser: Buffer, network: Buffer] {
  return [sha256('browser', browserId), sha256('network', network)];
}

/** For the address in a browser of an earlier sign-in. */
export function countedInBrowser(email: string, browser: Buffer): Counted {
  return { hash: sha256('place', email, browser.toString('hex')), failuresMax: AUTH_LIMITS.signInFailuresMax };
}

function countedFor(email: string, network: string, isKnownNetwork: boolean): Counted[] {
  const here = [
    { hash: sha256('account from', email, network), failuresMax: AUTH_LIMITS.signInFailuresMax },
    { hash: sha256('from', network), failuresMax: AUTH_LIMITS.signInFailuresOfNetworkMax },
  ];
  const anywhere = { hash: sha256('account', email), failuresMax: AUTH_LIMITS.signInFailuresOfAccountMax };
  return isKnownNetwork ? here : [...here, anywhere];
}

/** A password that is hashed with another cost is hashed again, now that it is known. */
async function renewHash(
  { accounts, passwords }: CheckContext,
  account: Account,
  attempt: SignInAttempt & { readonly knownAs?: string },
): Promise<Account> {
  if (!passwords.isOutdated(account.passwordHash)) return account;
  const to = await passwords.hash(attempt.password, attempt);
  const isRenewed = await accounts.changePassword(account.id, { from: account.passwordHash, to });
  return isRenewed ? { ...account, passwordHash: to } : account;
}

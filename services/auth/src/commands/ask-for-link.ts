import { comparableAddress } from '@wts/access';
import { Fault } from '@wts/contracts';
import { plainAddress } from '../domain/plain-address.ts';
import type { Visitor } from '../domain/security-event.ts';
import { sha256 } from '../domain/sha256.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { Counted, SignInAttemptStore } from '../store/sign-in-attempts.ts';

interface AskContext {
  readonly attempts: SignInAttemptStore;
  readonly mailer: Mailer;
}

interface Asked {
  readonly email: string;
  readonly network: string;
  readonly visitor: Visitor;
}

/** Asks for a link to choose a new password. What is done and answered depends on the address in no way. */
export async function askForReset(
  { attempts, mailer }: AskContext,
  { email, network, visitor }: Asked,
): Promise<{ readonly wrong: string } | 'asked'> {
  const to = plainAddress(email.trim());
  if (to === null) return { wrong: 'Enter your email, such as ada@example.com.' };
  const wrong = await countAsked(attempts, to, { network, what: 'resets' });
  if (wrong !== null) return { wrong };
  if (!(await mailer.add({ kind: 'reset-asked', to, data: { visitor } }))) throw new Fault('unavailable');
  return 'asked';
}

/**
 * What counts a mail to an address, by the counters of failed sign-ins. Each kind counts apart: otherwise invitations would keep the
 * owner of the address from an account, and both from a new password.
 */
export function mailsTo(to: string, what: 'mails' | 'resets' | 'invitations'): Counted {
  return {
    hash: sha256(`${what} to`, comparableAddress(to)),
    failuresMax: AUTH_LIMITS.mailsAskedOfAddressMax,
    windowMs: AUTH_LIMITS.mailsAskedWindowMs,
  };
}

/**
 * Counts a mail that a stranger asks for, for its address and for the network. A sentence when there were too many. Keeps
 * authentication.mail.rates.
 */
export async function countAsked(
  attempts: SignInAttemptStore,
  to: string,
  { network, what = 'mails' }: { readonly network: string; readonly what?: 'mails' | 'resets' },
): Promise<string | null> {
  const windowMs = AUTH_LIMITS.mailsAskedWindowMs;
  const retryAfterSeconds = await attempts.begin([
    mailsTo(to, what),
    { hash: sha256('mails from', network), failuresMax: AUTH_LIMITS.mailsAskedOfNetworkMax, windowMs },
  ]);
  if (retryAfterSeconds === null) return null;
  const minutes = Math.ceil(retryAfterSeconds / 60);
  return `Too many messages were asked for. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
}

import { comparableAddress } from '@wts/access';
import { Fault } from '@wts/contracts';
import type { PeopleContext } from '../context.ts';
import { plainAddress } from '../domain/plain-address.ts';
import { sha256 } from '../domain/sha256.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { Counted } from '../store/sign-in-attempts.ts';
import type { Guest } from './sign-in-by-password.ts';

interface Asked extends Pick<Guest, 'network' | 'visitor'> {
  readonly email: string;
}

/** Asks for a link to choose a new password. What is done and answered depends on the address in no way. */
export async function askForReset(
  { attempts, mailer }: Pick<PeopleContext, 'attempts' | 'mailer'>,
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
  attempts: PeopleContext['attempts'],
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

import type { ChallengeUse } from '../accounts/passkeys.ts';
import type { PeopleContext } from '../context.ts';
import type { Session } from '../store/sessions.ts';
import { beginSession } from './begin-session.ts';
import { provenSignInPlacesOf, usePasskey, type FactorContext } from './check-second-factor.ts';
import type { Guest } from './sign-in-by-password.ts';

interface Attempt {
  readonly answer: string;
  /** The session that the browser has, which the new one replaces. */
  readonly session: Session | null;
}

/**
 * Signs in with a passkey alone: the authenticator has verified its person, so it stands for both factors. Returns the secret of the
 * session; null for a wrong answer. Keeps authentication.passkeys.sign-in.
 */
export async function signInByPasskey(
  context: FactorContext & Pick<PeopleContext, 'accounts' | 'personOf'>,
  { answer, session }: Attempt,
  guest: Guest,
): Promise<string | null> {
  const use = signInUse(guest.browserId);
  const passkey = await usePasskey(context, { answer, use }, guest);
  const account = await context.accounts.find(passkey?.accountId ?? null);
  if (account === null) return null;
  const userId = await context.personOf(account);
  await context.attempts.addSignInPlaces(account.id, provenSignInPlacesOf(guest));
  const begun = { userId, account, replaces: session, way: 'with a passkey', visitor: guest.visitor };
  return beginSession(context, { ...begun, method: 'passkey' });
}

export function signInUse(browserId: string): ChallengeUse {
  return { purpose: 'sign-in', browserId, subject: '' };
}

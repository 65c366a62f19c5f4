import type { ChallengeUse } from '../accounts/passkeys.ts';
import type { PeopleContext } from '../context.ts';
import { sha256 } from '../domain/sha256.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { Account } from '../store/accounts.ts';
import type { Session } from '../store/sessions.ts';
import { checkCounted, TOO_MANY, type ProofOutcome } from './check-counted.ts';
import { usePasskey, type FactorContext } from './check-second-factor.ts';
import type { Guest } from './sign-in-by-password.ts';

type PasswordContext = Pick<PeopleContext, 'attempts' | 'passwords'>;
type ConfirmContext = PasswordContext & FactorContext & Pick<PeopleContext, 'accounts' | 'sessions'>;

/** What the person presents again: the password or a passkey. */
export interface Confirmation {
  readonly password: string;
  readonly passkeyAnswer: string | undefined;
}

/**
 * Checks again who uses a session, before something that outlasts it. Returns a sentence about what is wrong; null when it is confirmed.
 * Failures are counted, so a stolen session does not help to guess. Keeps authentication.sessions.ask-again.
 */
export async function confirmSession(
  context: ConfirmContext,
  session: Session,
  { password, passkeyAnswer }: Confirmation,
  guest: Guest,
): Promise<string | null> {
  const account = await context.accounts.find(session.accountId);
  if (account === null) return 'This account is closed.';
  if (passkeyAnswer === undefined) {
    const { outcome } = await checkOwnPassword(context, account, password, guest);
    if (outcome === 'throttled') return TOO_MANY;
    if (outcome === 'wrong') return 'The password is wrong.';
  } else {
    const use = confirmUse(session.id, guest.browserId);
    const passkey = await usePasskey(context, { answer: passkeyAnswer, use }, guest);
    if (passkey?.accountId !== account.id) return 'This passkey was not accepted. Try again, or enter your password.';
  }
  await context.sessions.confirm(session.id);
  return null;
}

/** The password of the person of a session. Sessions of one account share the counter of failures. */
export async function checkOwnPassword(
  context: PasswordContext,
  account: Account,
  password: string,
  { network, signal }: Pick<Guest, 'network' | 'signal'>,
): Promise<ProofOutcome> {
  const counted = [{ hash: sha256('change', account.id), failuresMax: AUTH_LIMITS.signInFailuresMax }];
  const sender = { network, signal, knownAs: account.id };
  return checkCounted(context, counted, () => context.passwords.verify(password, account.passwordHash, sender));
}

export function confirmUse(sessionId: string, browserId: string): ChallengeUse {
  return { purpose: 'confirm', browserId, subject: sessionId };
}

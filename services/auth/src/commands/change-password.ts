import type { PeopleContext } from '../context.ts';
import { publishGrantsRevoked } from '../credentials/publish-revoked.ts';
import { faultOfPassword } from '../domain/password-rules.ts';
import { endAllGrantsOf } from '../oauth/grants.ts';
import type { Account } from '../store/accounts.ts';
import type { Session } from '../store/sessions.ts';
import { TOO_MANY } from './check-counted.ts';
import { checkOwnPassword } from './confirm-session.ts';
import type { Guest } from './sign-in-by-password.ts';

type ChangeContext = Pick<PeopleContext, 'accounts' | 'attempts' | 'passwords' | 'record' | 'revoke'>;

/** What is wrong, as a sentence, or the account with its new password. */
type ChangeOutcome = { readonly wrong: string } | { readonly account: Pick<Account, 'id' | 'passwordHash'> };

interface Change extends Pick<Guest, 'network' | 'visitor' | 'signal'> {
  readonly current: string;
  readonly password: string;
}

/**
 * Changes the password of the person of a session. All sessions and all apps of the person end with it, because an attacker may have got
 * them by the old password. The caller begins a new session, because the cookie of the old one may be stolen too. Failures are counted, so
 * a stolen session does not help to guess.
 * Keeps authentication.accounts.password-change.
 */
export async function changePassword(context: ChangeContext, session: Session, change: Change): Promise<ChangeOutcome> {
  const { accounts, passwords, record, revoke } = context;
  const account = await accounts.find(session.accountId);
  if (account === null) return { wrong: 'You sign in without a password here.' };
  const fault = faultOfPassword(change.password, account.email);
  if (fault !== null) return { wrong: fault };
  const { outcome } = await checkOwnPassword(context, account, change.current, change);
  if (outcome === 'throttled') return { wrong: TOO_MANY };
  if (outcome === 'wrong') return { wrong: 'The current password is wrong.' };
  const to = await passwords.hash(change.password, { ...change, knownAs: account.id });
  const { userId, id: subjectId } = session;
  const { visitor } = change;
  const changed = await record.act(async (act) => {
    if (!(await act.accounts.changePassword(account.id, { from: account.passwordHash, to }))) return null;
    await act.sessions.endAllOf(userId);
    const hadApps = await endAllGrantsOf(act, { userId, reason: 'the password was changed', visitor });
    await act.record({ kind: 'password-changed', userId, accountId: account.id, subjectId, visitor, details: {} });
    return { hadApps };
  });
  if (changed === null) return { wrong: 'The password was changed meanwhile. Sign in again.' };
  if (changed.hadApps) await publishGrantsRevoked(revoke, userId);
  return { account: { id: account.id, passwordHash: to } };
}

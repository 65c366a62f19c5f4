import type { RevocationSender } from '@wts/service-kit/nats';
import { publishGrantsRevoked } from '../credentials/publish-revoked.ts';
import { faultOfPassword } from '../domain/password-rules.ts';
import type { Visitor } from '../domain/security-event.ts';
import { endAllGrantsOf } from '../oauth/grants.ts';
import type { PasswordHashes } from '../accounts/password-hashes.ts';
import type { Account, AccountStore } from '../store/accounts.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import type { Session } from '../store/sessions.ts';
import { checkOwnPassword, TOO_MANY } from './confirm-session.ts';
import type { SignInAttemptStore } from '../store/sign-in-attempts.ts';

interface ChangeContext {
  readonly accounts: AccountStore;
  readonly attempts: SignInAttemptStore;
  readonly passwords: PasswordHashes;
  readonly record: SecurityRecord;
  readonly keys: { readonly revoke: RevocationSender };
}

/** What is wrong, as a sentence, or the account with its new password. */
type ChangeOutcome = { readonly wrong: string } | { readonly account: Pick<Account, 'id' | 'passwordHash'> };

interface Change {
  readonly current: string;
  readonly password: string;
  readonly network: string;
  readonly visitor: Visitor;
  readonly signal: AbortSignal;
}

/**
 * Changes the password of the person of a session. All sessions and all apps of the person end with it, because an attacker may have got
 * them by the old password. The caller begins a new session, because the cookie of the old one may be stolen too. Failures are counted, so
 * a stolen session does not help to guess.
 * Keeps authentication.accounts.password-change.
 */
export async function changePassword(context: ChangeContext, session: Session, change: Change): Promise<ChangeOutcome> {
  const { accounts, attempts, passwords, record, keys } = context;
  const account = session.accountId === null ? null : await accounts.find(session.accountId);
  if (account === null) return { wrong: 'You sign in without a password here.' };
  const fault = faultOfPassword(change.password, account.email);
  if (fault !== null) return { wrong: fault };
  const isRight = await checkOwnPassword({ attempts, passwords }, account, change.current, change);
  if (isRight === 'throttled') return { wrong: TOO_MANY };
  if (!isRight) return { wrong: 'The current password is wrong.' };
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
  if (changed.hadApps) await publishGrantsRevoked(keys.revoke, userId);
  return { account: { id: account.id, passwordHash: to } };
}

import { comparableAddress } from '@wts/access';
import type { PeopleContext } from '../context.ts';
import { publishAllRevoked } from '../credentials/publish-revoked.ts';
import { faultOfPassword } from '../domain/password-rules.ts';
import { resetPassword, type ResetKind } from '../store/reset-password.ts';
import { countedInBrowser, signInPlacesOf, type Guest } from './sign-in-by-password.ts';

interface Choice {
  readonly linkHash: Buffer;
  readonly kind: ResetKind;
  readonly accountId: string;
  readonly password: string;
  readonly guest: Guest;
}

/**
 * Sets the password that the holder of a link chose. All sessions and all apps of the person end, because an attacker may have got them by
 * the old password. The person signs in afterwards, so a second factor is asked for; failures of before do not count in this browser any
 * more, because they are why people forget a password. `set`: the first password of an account that an operator made. Keeps authentication.accounts.password-reset.
 */
export async function resetPasswordByLink(
  context: Pick<PeopleContext, 'accounts' | 'attempts' | 'passwords' | 'revoke' | 'record' | 'personOf'>,
  { linkHash, kind, accountId, password, guest }: Choice,
): Promise<{ readonly wrong: string } | 'ended' | 'changed' | 'set'> {
  const { accounts, attempts, passwords, revoke, record, personOf } = context;
  const account = await accounts.find(accountId);
  if (account === null) return 'ended';
  const fault = faultOfPassword(password, account.email);
  if (fault !== null) return { wrong: fault };
  const passwordHash = await passwords.hash(password, guest);
  const userId = await personOf(account);
  const isFirst = !(await attempts.isUsed(accountId));
  const isReset = await record.act(async ({ transaction, record: write }) => {
    const outcome = await resetPassword(transaction, { linkHash, kind, userId, passwordHash });
    if (outcome === 'ended') return false;
    const event = { userId, accountId, visitor: guest.visitor, details: {} };
    await write({ kind: 'password-reset', ...event });
    if (outcome === 'holder-ended') await write({ kind: 'holder-ended', ...event });
    return true;
  });
  if (!isReset) return 'ended';
  await publishAllRevoked(revoke, userId);
  const [browser, network] = signInPlacesOf(guest);
  await attempts.addSignInPlaces(account.id, [browser, network]);
  await attempts.forget([countedInBrowser(comparableAddress(account.email), browser)]);
  return isFirst ? 'set' : 'changed';
}

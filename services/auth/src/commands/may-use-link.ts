import type { Account } from '../store/accounts.ts';
import type { Session } from '../store/sessions.ts';
import { TOO_MANY } from './check-counted.ts';
import { checkPassword, type Guest } from './sign-in-by-password.ts';

type CheckContext = Parameters<typeof checkPassword>[0];

/**
 * Whether the person who opened a link that gives an account an address also holds that account: by its session, or by its password in
 * another browser. Otherwise a person could be made to prove their own address for the account of an attacker. A sentence when not.
 */
export async function refusalOfLink(
  context: CheckContext,
  account: Account,
  { session, password, guest }: { readonly session: Session | null; readonly password: string; readonly guest: Guest },
): Promise<string | null> {
  if (session?.accountId === account.id) return null;
  if (account.email === '') return 'Open the link in the browser in which you are signed in.';
  const checked = await checkPassword(context, { ...guest, email: account.email, password });
  if (checked.outcome === 'throttled') return TOO_MANY;
  return checked.outcome === 'right' && checked.account.id === account.id ? null : 'The password is wrong.';
}

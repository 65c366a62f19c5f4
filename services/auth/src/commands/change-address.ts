import { comparableAddress } from '@wts/access';
import type { SecretKeys } from '@wts/service-kit/sealing';
import { plainAddress } from '../domain/plain-address.ts';
import type { Visitor } from '../domain/security-event.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { makeLink } from '../links/make-link.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import type { Account, AccountStore } from '../store/accounts.ts';
import type { MailLinkStore } from '../store/mail-links.ts';
import type { Session } from '../store/sessions.ts';
import type { SignInAttemptStore } from '../store/sign-in-attempts.ts';
import { countAsked } from './ask-for-link.ts';

interface AddressContext {
  readonly accounts: AccountStore;
  readonly attempts: SignInAttemptStore;
  readonly mailer: Mailer;
  readonly links: MailLinkStore;
  readonly secretKeys: SecretKeys;
  readonly record: SecurityRecord;
  readonly oauth: { readonly issuer: string };
}

interface Sender {
  readonly network: string;
  readonly visitor: Visitor;
}

const NO_MAIL = 'This service sends no mail.';

/**
 * Sends a link to a new address, and to the old one a link that stops the change for a week. The caller asked who the person is when the
 * sign-in is old, because who has the address has the account. Null when it is done, else what is wrong as a sentence. The answer does not say whether the new address has an
 * account. Keeps authentication.mail.change.
 */
export async function askForAddress(
  context: AddressContext,
  session: Session,
  { email, network, visitor }: Sender & { readonly email: string },
): Promise<string | null> {
  const { mailer, links, oauth } = context;
  const account = await accountOf(context, session);
  if (account === null || !mailer.isOn) return NO_MAIL;
  const to = plainAddress(email.trim());
  if (to === null) return 'Enter your email, such as ada@example.com.';
  if (comparableAddress(to) === comparableAddress(account.email) && account.emailVerified)
    return 'This is the address of the account already.';
  const refusal = await countAsked(context.attempts, to, { network });
  if (refusal !== null) return refusal;
  const own = { links, issuer: oauth.issuer };
  const change = { kind: 'change', accountId: account.id, address: to, lifeMs: AUTH_LIMITS.confirmLinkMs } as const;
  const { url, id: subjectId } = await makeLink(own, change);
  const { userId } = session;
  await mailer.add({ kind: 'change-address', to, userId, data: { url, name: account.name } });
  if (account.emailVerified) {
    const stop = {
      kind: 'stop-change',
      accountId: account.id,
      address: account.email,
      lifeMs: AUTH_LIMITS.stopLinkMs,
    } as const;
    const data = { url: (await makeLink(own, stop)).url, newAddress: to };
    await mailer.add({ kind: 'address-changes', to: account.email, userId, data });
  }
  const about = { userId, accountId: account.id, subjectId, visitor };
  await context.record.add({ kind: 'mail-link-asked', ...about, details: { mail: 'new address' } });
  return null;
}

/** Sends a link that verifies the address of an account from the time before there was mail. */
export async function askForVerification(
  context: AddressContext,
  session: Session,
  { network, visitor }: Sender,
): Promise<string | null> {
  const { mailer, links, oauth } = context;
  const account = await accountOf(context, session);
  if (account === null || !mailer.isOn || account.email === '') return NO_MAIL;
  const refusal = await countAsked(context.attempts, account.email, { network });
  if (refusal !== null) return refusal;
  const { id: accountId, email: address } = account;
  const link = { kind: 'verify', accountId, address, lifeMs: AUTH_LIMITS.confirmLinkMs } as const;
  const { url, id: subjectId } = await makeLink({ links, issuer: oauth.issuer }, link);
  const { userId } = session;
  await mailer.add({ kind: 'verify-address', to: address, userId, data: { url, name: account.name } });
  const about = { userId, accountId, subjectId, visitor };
  await context.record.add({ kind: 'mail-link-asked', ...about, details: { mail: 'confirmation of the address' } });
  return null;
}

async function accountOf({ accounts }: AddressContext, { accountId }: Session): Promise<Account | null> {
  return accountId === null ? null : accounts.find(accountId);
}

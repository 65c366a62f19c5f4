import { comparableAddress } from '@wts/access';
import { Fault } from '@wts/contracts';
import type { PeopleContext } from '../context.ts';
import { plainAddress } from '../domain/plain-address.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { makeLink } from '../links/make-link.ts';
import type { QueuedKind, QueuedMail } from '../mail/mailer.ts';
import type { Act } from '../record/security-record.ts';
import { mailLinkStore, type NewLink } from '../store/mail-links.ts';
import type { Session } from '../store/sessions.ts';
import { countAsked } from './ask-for-link.ts';
import type { Guest } from './sign-in-by-password.ts';

type AddressContext = Pick<PeopleContext, 'accounts' | 'attempts' | 'mailer' | 'record' | 'issuer'>;
type Sender = Pick<Guest, 'network' | 'visitor'>;

const NO_MAIL = 'This service sends no mail.';

/**
 * Sends a link to a new address, and to the old one a link that stops the change for a week. The caller asked who the person is when the
 * sign-in is old, because who has the address has the account. Null when it is done, else what is wrong as a sentence. The answer does not say
 * whether the new address has an account. Keeps authentication.mail.change.
 */
export async function askForAddress(
  context: AddressContext,
  session: Session,
  { email, network, visitor }: Sender & { readonly email: string },
): Promise<string | null> {
  const account = await context.accounts.find(session.accountId);
  if (account === null || !context.mailer.isOn) return NO_MAIL;
  const to = plainAddress(email.trim());
  if (to === null) return 'Enter your email, such as ada@example.com.';
  if (comparableAddress(to) === comparableAddress(account.email) && account.emailVerified)
    return 'This is the address of the account already.';
  const refusal = await countAsked(context.attempts, to, { network });
  if (refusal !== null) return refusal;
  const { userId } = session;
  const { id: accountId, name, email: address } = account;
  // Both mails or none: the change must not go on without the owner of the old address.
  await context.record.act(async (act) => {
    const change = { kind: 'change', accountId, address: to, lifeMs: AUTH_LIMITS.confirmLinkMs } as const;
    const subjectId = await mailLink(context, act, change, (url) => {
      return { kind: 'change-address', to, userId, data: { url, name } };
    });
    if (account.emailVerified) {
      const stop = { kind: 'stop-change', accountId, address, lifeMs: AUTH_LIMITS.stopLinkMs } as const;
      await mailLink(context, act, stop, (url) => {
        return { kind: 'address-changes', to: address, userId, data: { url, newAddress: to } };
      });
    }
    const details = { mail: 'new address' };
    await act.record({ kind: 'mail-link-asked', userId, accountId, subjectId, visitor, details });
  });
  return null;
}

/** Sends a link that verifies the address of an account from the time before there was mail. */
export async function askForVerification(
  context: AddressContext,
  session: Session,
  { network, visitor }: Sender,
): Promise<string | null> {
  const account = await context.accounts.find(session.accountId);
  if (account === null || !context.mailer.isOn || account.email === '') return NO_MAIL;
  const refusal = await countAsked(context.attempts, account.email, { network });
  if (refusal !== null) return refusal;
  const { userId } = session;
  const { id: accountId, name, email: address } = account;
  await context.record.act(async (act) => {
    const verify = { kind: 'verify', accountId, address, lifeMs: AUTH_LIMITS.confirmLinkMs } as const;
    const subjectId = await mailLink(context, act, verify, (url) => {
      return { kind: 'verify-address', to: address, userId, data: { url, name } };
    });
    const details = { mail: 'confirmation of the address' };
    await act.record({ kind: 'mail-link-asked', userId, accountId, subjectId, visitor, details });
  });
  return null;
}

/** Makes a link and queues its mail, in an act that fails when no more mails may wait. Returns the id of the link. */
async function mailLink<K extends QueuedKind>(
  { mailer, issuer }: Pick<AddressContext, 'mailer' | 'issuer'>,
  { transaction }: Pick<Act, 'transaction'>,
  link: Omit<NewLink, 'id' | 'hash'>,
  mailWith: (url: string) => QueuedMail<K>,
): Promise<string> {
  const { url, id } = await makeLink({ links: mailLinkStore(transaction), issuer }, link);
  if (!(await mailer.add(mailWith(url), transaction))) throw new Fault('unavailable');
  return id;
}

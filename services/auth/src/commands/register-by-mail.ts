import { Fault } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import type { PeopleContext } from '../context.ts';
import { sha256 } from '../domain/sha256.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { contentOf, makeLinkWith } from '../links/make-link.ts';
import type { Account } from '../store/accounts.ts';
import { mailLinkStore, type LinkKind } from '../store/mail-links.ts';
import { countAsked } from './ask-for-link.ts';
import type { Presented } from './mail-invitation.ts';
import { takeAddress } from './prove-address.ts';
import { checkCounted, TOO_MANY } from './check-counted.ts';
import { checkRegistration, createAccount, personOfNew, type NewPerson } from './register-account.ts';
import { signInPlacesOf, type Guest } from './sign-in-by-password.ts';

type RegisterContext = Pick<PeopleContext, 'attempts' | 'passwords' | 'mailer' | 'links' | 'secretKeys' | 'issuer'>;
type CreateContext = Pick<PeopleContext, 'record' | 'attempts' | 'commitUnit' | 'personOf'>;

/** What waits for the link: an account whose password is hashed already, and the invitation. */
interface WaitingRegistration extends Pick<Account, 'name' | 'email' | 'passwordHash'> {
  readonly code: string;
}

/**
 * Sends a link that creates the account of a person with an invitation. Until it is used there is nothing but the link. The answer and the
 * work are the same for an address with an account; its owner gets another mail. Keeps authentication.mail.registration.
 */
export async function askForAccount(
  context: RegisterContext,
  person: NewPerson,
  { code, invitation: { workspaceName } }: Pick<Presented, 'code' | 'invitation'>,
): Promise<{ readonly wrong: string } | { readonly sentTo: string }> {
  const { attempts, mailer, issuer } = context;
  const account = await checkRegistration(context, person);
  if (typeof account === 'string') return { wrong: account };
  const { name, email, passwordHash } = account;
  const wrong = await countAsked(attempts, email, person);
  if (wrong !== null) return { wrong };
  const waiting: WaitingRegistration = { name, email, passwordHash, code };
  const { url } = await makeLinkWith(context, waiting, {
    kind: 'registration',
    accountId: null,
    address: email,
    browserHash: sha256(person.browserId),
    lifeMs: AUTH_LIMITS.confirmLinkMs,
  });
  const signInUrl = `${issuer}/sign-in?${new URLSearchParams({ invitation: code }).toString()}`;
  const data = { url, signInUrl, name, workspaceName };
  if (!(await mailer.add({ kind: 'registration-asked', to: email, data }))) throw new Fault('unavailable');
  return { sentTo: email };
}

interface Confirmed {
  readonly linkHash: Buffer;
  readonly password: string;
  readonly guest: Guest;
}

/** Whether the link was opened in the browser that asked for it. In another one the person enters the password that they chose. */
export async function isOfBrowser(
  { links }: Pick<RegisterContext, 'links'>,
  linkHash: Buffer,
  browserId: string,
): Promise<boolean> {
  return (await links.find(linkHash))?.browserHash?.equals(sha256(browserId)) ?? false;
}

/**
 * Creates the account of a registration whose link was opened. In another browser than that of the registration it asks for the password:
 * otherwise an attacker registers the address of another person, who confirms it, and the account has the password of the attacker.
 */
export async function confirmRegistration(
  context: RegisterContext & CreateContext,
  { linkHash, password, guest }: Confirmed,
): Promise<
  | 'ended'
  | 'taken'
  | { readonly wrong: string }
  | { readonly account: Account; readonly userId: string; readonly code: string }
> {
  const { links, secretKeys, passwords } = context;
  const link = await links.find(linkHash);
  if (link === null) return 'ended';
  const { code, ...waiting } = contentOf(secretKeys, link) as WaitingRegistration;
  if (!(await isOfBrowser(context, linkHash, guest.browserId))) {
    const counted = [{ hash: sha256('confirm', link.id), failuresMax: AUTH_LIMITS.signInFailuresMax }];
    const verify = (): Promise<boolean> => passwords.verify(password, waiting.passwordHash, guest);
    const { outcome } = await checkCounted(context, counted, verify);
    if (outcome === 'throttled') return { wrong: TOO_MANY };
    if (outcome === 'wrong') return { wrong: 'This is not the password that you chose.' };
  }
  const account = { ...waiting, id: randomUUID(), emailVerified: true };
  const created = await createProved(context, { account, linkHash, kind: 'registration', guest });
  return typeof created === 'string' ? created : { ...created, code };
}

interface ProvedAccount {
  readonly account: Account;
  readonly linkHash: Buffer;
  readonly kind: Extract<LinkKind, 'registration' | 'invitation'>;
  readonly guest: Guest;
}

/** Creates an account whose person proved its address by a link, which ends in the same transaction. */
export async function createProved(
  context: CreateContext,
  { account, linkHash, kind, guest }: ProvedAccount,
): Promise<'ended' | 'taken' | { readonly account: Account; readonly userId: string }> {
  const { record, attempts } = context;
  const { id: accountId, email } = account;
  const { visitor } = guest;
  const outcome = await record.act(async (act) => {
    if ((await mailLinkStore(act.transaction).use(linkHash, kind)) === null) return 'ended';
    if ((await takeAddress(act, context, { accountId, email, visitor })) === 'taken') return 'taken';
    const person = await createAccount(act, account, visitor);
    if (person === null) return 'taken';
    await act.record({ kind: 'address-verified', userId: person, accountId, visitor, details: {} });
    return 'created';
  });
  if (outcome !== 'created') return outcome;
  const userId = await personOfNew(context, account);
  await attempts.addSignInPlaces(accountId, signInPlacesOf(guest));
  return { account, userId };
}

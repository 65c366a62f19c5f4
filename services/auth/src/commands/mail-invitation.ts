import { comparableAddress } from '@wts/access';
import type { BodyOf, mailApi, memberApi, ReplyOf } from '@wts/contracts';
import type { PeopleContext } from '../context.ts';
import { plainAddress } from '../domain/plain-address.ts';
import type { Visitor } from '../domain/security-event.ts';
import { sha256 } from '../domain/sha256.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { contentOf, makeLinkWith } from '../links/make-link.ts';
import type { Session } from '../store/sessions.ts';
import { mailsTo } from './ask-for-link.ts';
import { confirmAddress } from './confirm-address.ts';

export type Invitation = ReplyOf<typeof memberApi.internalReadInvitation>['invitation'];

export interface Presented {
  readonly code: string;
  /** The token of the link that brought the code by mail. */
  readonly proof?: string | undefined;
  readonly invitation: Invitation;
}

type LinkContext = Pick<PeopleContext, 'links' | 'secretKeys'>;

/**
 * Mails an invitation to its address. The link carries the code, and a proof besides: the inviter has the code too, but only who reads the mail
 * has the proof. False when no mail is sent, or too many were. Keeps authentication.mail.invitation.
 */
export async function mailInvitation(
  context: LinkContext & Pick<PeopleContext, 'attempts' | 'mailer' | 'directory' | 'issuer'>,
  invitation: BodyOf<typeof mailApi.internalMailInvitation>,
): Promise<boolean> {
  const { attempts, mailer, directory } = context;
  const { code, workspaceName, role, createdBy, expiresAt } = invitation;
  const to = plainAddress(invitation.email);
  if (!mailer.isOn || to === null) return false;
  const windowMs = AUTH_LIMITS.mailsAskedWindowMs;
  const refused = await attempts.begin([
    mailsTo(to, 'invitations'),
    { hash: sha256('invitations of', createdBy), failuresMax: AUTH_LIMITS.invitationMailsMax, windowMs },
  ]);
  if (refused !== null) return false;
  const lifeMs = Math.max(0, Date.parse(expiresAt) - Date.now());
  const link = { kind: 'invitation', accountId: null, address: to, lifeMs } as const;
  const { url } = await makeLinkWith(context, { code }, link);
  const inviter = (await directory.person(createdBy))?.name ?? null;
  return mailer.add({ kind: 'invitation', to, data: { url, workspaceName, inviter, role, expiresAt } });
}

export interface ProvedLink {
  readonly hash: Buffer;
  readonly address: string;
}

/** The mailed link that a person came by, when it is of this invitation and was not used. */
export async function proofOf(
  { links, secretKeys }: LinkContext,
  { proof, code }: Pick<Presented, 'proof' | 'code'>,
): Promise<ProvedLink | null> {
  if (proof === undefined) return null;
  const hash = sha256(proof);
  const link = await links.find(hash);
  if (link?.kind !== 'invitation' || link.state !== 'open' || link.address === null) return null;
  return (contentOf(secretKeys, link) as { readonly code: string }).code === code
    ? { hash, address: link.address }
    : null;
}

/** Someone who is signed in and came by a mailed link has proved the address of the account, when that is the invited one. */
export async function proveByInvitation(
  context: LinkContext & Parameters<typeof confirmAddress>[0],
  { accountId }: Session,
  { code, proof, visitor }: Pick<Presented, 'code' | 'proof'> & { readonly visitor: Visitor },
): Promise<void> {
  const link = await proofOf(context, { code, proof });
  const account = await context.accounts.find(accountId);
  if (link === null || account === null || account.emailVerified) return;
  if (comparableAddress(account.email) !== comparableAddress(link.address)) return;
  await confirmAddress(context, { linkHash: link.hash, kind: 'invitation', accountId: account.id, visitor });
}

import { comparableAddress } from '@wts/access';
import type { CommitUnitSender } from '@wts/service-kit/call';
import type { SecurityRecord } from '../record/security-record.ts';
import type { Account, AccountStore } from '../store/accounts.ts';
import { giveAddress } from '../store/addresses.ts';
import { mailLinkStore } from '../store/mail-links.ts';
import { takeAddress } from './prove-address.ts';
import type { Visitor } from '../domain/security-event.ts';

interface ConfirmContext {
  readonly accounts: AccountStore;
  readonly record: SecurityRecord;
  readonly commitUnit: CommitUnitSender;
  readonly personOf: (account: Account) => Promise<string>;
}

interface Confirmation {
  readonly linkHash: Buffer;
  readonly kind: 'verify' | 'change' | 'stop-change' | 'invitation';
  /** Of a link that is of no account. */
  readonly accountId?: string;
  readonly visitor: Visitor;
}

/**
 * Gives the account of a link the address that it was mailed to. `taken`: another account proved that address. Keeps
 * authentication.mail.proved-address.
 */
export async function confirmAddress(
  context: ConfirmContext,
  { linkHash, kind, visitor, accountId: given }: Confirmation,
): Promise<'ended' | 'taken' | { readonly userId: string; readonly account: Account }> {
  const { accounts, record, personOf } = context;
  const outcome = await record.act(async (act) => {
    const link = await mailLinkStore(act.transaction).use(linkHash, kind);
    const accountId = link?.accountId ?? given;
    const email = link?.address ?? null;
    if (link === null || accountId === undefined || email === null) return 'ended';
    if ((await takeAddress(act, context, { accountId, email, visitor })) === 'taken') return 'taken';
    await giveAddress(act.transaction, { accountId, email, comparableEmail: comparableAddress(email) });
    if (kind === 'stop-change') await mailLinkStore(act.transaction).endAfterStop(accountId, linkHash);
    return accountId;
  });
  if (outcome === 'ended' || outcome === 'taken') return outcome;
  const account = await accounts.find(outcome);
  if (account === null) return 'ended';
  // Shows the address to others too; a failure here is repaired at the next sign-in.
  const userId = await personOf(account);
  await record.add({ kind: EVENTS[kind], userId, accountId: account.id, visitor, details: {} });
  return { userId, account };
}

const EVENTS = {
  verify: 'address-verified',
  invitation: 'address-verified',
  change: 'address-changed',
  'stop-change': 'address-change-stopped',
} as const;

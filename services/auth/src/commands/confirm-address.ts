import { comparableAddress } from '@wts/access';
import type { PeopleContext } from '../context.ts';
import { publishGrantsRevoked } from '../credentials/publish-revoked.ts';
import { endAllGrantsOf } from '../oauth/grants.ts';
import type { Account } from '../store/accounts.ts';
import { giveAddress } from '../store/addresses.ts';
import { mailLinkStore } from '../store/mail-links.ts';
import { takeAddress } from './prove-address.ts';
import { onFault } from '../domain/on-fault.ts';
import type { Visitor } from '../domain/security-event.ts';

type ConfirmContext = Pick<PeopleContext, 'accounts' | 'record' | 'commitUnit' | 'revoke' | 'personOf'>;

interface Confirmation {
  readonly linkHash: Buffer;
  readonly kind: 'verify' | 'change' | 'stop-change' | 'invitation';
  /** That of the link, or for one that is of no account that of its person. */
  readonly accountId: string;
  readonly visitor: Visitor;
}

/**
 * Gives the account of a link the address that it was mailed to. `taken`: another account proved that address. Who stops a change of the address
 * is not who asked for it, so all sessions and apps end with it. Keeps authentication.mail.proved-address.
 */
export async function confirmAddress(
  context: ConfirmContext,
  { linkHash, kind, visitor, accountId }: Confirmation,
): Promise<'ended' | 'taken' | { readonly userId: string; readonly account: Account }> {
  const { accounts, record, personOf, revoke } = context;
  const before = await accounts.find(accountId);
  if (before === null) return 'ended';
  const userId = await personOf(before);
  let hadApps = false;
  const outcome = await record.act(async (act) => {
    const links = mailLinkStore(act.transaction);
    const email = (await links.use(linkHash, kind))?.address ?? null;
    if (email === null) return 'ended';
    if ((await takeAddress(act, context, { accountId, email, visitor })) === 'taken') return 'taken';
    await giveAddress(act.transaction, { accountId, email, comparableEmail: comparableAddress(email) });
    if (kind === 'stop-change') {
      await links.endAfterStop(accountId, linkHash);
      await act.sessions.endAllOf(userId);
      hadApps = await endAllGrantsOf(act, { userId, reason: 'a change of the address was stopped', visitor });
    }
    await act.record({ kind: EVENTS[kind], userId, accountId, visitor, details: {} });
    return 'given';
  });
  if (outcome !== 'given') return outcome;
  if (hadApps) await publishGrantsRevoked(revoke, userId);
  const account = await accounts.find(accountId);
  if (account === null) return 'ended';
  // Shows the address to others too. While sync is away, the next sign-in does.
  await personOf(account).catch(onFault('unavailable', undefined));
  return { userId, account };
}

const EVENTS = {
  verify: 'address-verified',
  invitation: 'address-verified',
  change: 'address-changed',
  'stop-change': 'address-change-stopped',
} as const;

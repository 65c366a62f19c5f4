import { comparableAddress } from '@wts/access';
import type { Context } from '../context.ts';
import type { Visitor } from '../domain/security-event.ts';
import type { Act } from '../record/security-record.ts';
import { ACCOUNT_ISSUER } from '../store/accounts.ts';
import { freeAddress } from '../store/addresses.ts';
import { identityStore } from '../store/identities.ts';
import { showAddress } from './resolve-person.ts';

interface Proof {
  readonly accountId: string;
  readonly email: string;
  readonly visitor: Visitor;
}

/**
 * Takes an address from an account that never proved it, for the person who proves it now. That account keeps its sessions, and its page says
 * what happened. `taken`: another account proved the address too. Run it in the act that gives the address away.
 */
export async function takeAddress(
  { transaction, record }: Pick<Act, 'transaction' | 'record'>,
  context: Pick<Context, 'commitUnit'>,
  { accountId, email, visitor }: Proof,
): Promise<'taken' | 'free'> {
  const freed = await freeAddress(transaction, { comparableEmail: comparableAddress(email), exceptId: accountId });
  if (freed === 'taken') return 'taken';
  if (freed === null) return 'free';
  const { accountId: loserId } = freed;
  const loser = { issuer: ACCOUNT_ISSUER, subject: loserId };
  const identities = identityStore(transaction);
  const identity = await identities.find(loser);
  if (identity === null) return 'free';
  await identities.changeAddress(loser, { email: null, emailVerified: false });
  const { userId } = identity;
  const by = { actor: { kind: 'system' }, visitor } as const;
  await record({ kind: 'address-lost', userId, accountId: loserId, ...by, details: {} });
  // Within the transaction, so that no failure leaves two people shown with one address.
  if (identity.hasPerson) await showAddress(context, userId, null);
  return 'free';
}

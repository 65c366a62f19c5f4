import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { revokeAllKeysOf } from './api-keys.ts';
import { grantStore } from './grants.ts';
import { mailLinkStore, type MailLink } from './mail-links.ts';
import { removeAllFactors } from './second-factors.ts';
import { endSessionsOf } from './sessions.ts';

/** Links that lead to a new password. */
export type ResetKind = Extract<MailLink['kind'], 'reset' | 'take-back'>;

interface Reset {
  readonly linkHash: Buffer;
  readonly kind: ResetKind;
  readonly userId: string;
  readonly passwordHash: string;
}

/**
 * Sets the password of the account of a link, and ends the link, all sessions and all grants of the person. Run it in a transaction. A link that
 * was mailed to the address of the account verifies that. Nothing proved before whose address it is, so keys and second factors end as
 * well: an earlier holder of the account may have made them. They also end by a link that takes the account back. `ended` when the link
 * works no more. The account is locked before its sessions
 * are deleted, so that a sign-in with the old password, which locks it too, begins none after it.
 */
export async function resetPassword(
  transaction: Knex,
  { linkHash, kind, userId, passwordHash }: Reset,
): Promise<'ended' | 'reset' | 'holder-ended'> {
  const link = await mailLinkStore(transaction).use(linkHash, kind);
  if (typeof link?.accountId !== 'string') return 'ended';
  const sql = `with before as (select id, email_verified as was from auth.accounts where id = :accountId for update)
    update auth.accounts a set password_hash = :passwordHash,
      email_verified = email_verified or coalesce(shown_email = :address, false)
    from before where a.id = before.id returning email_verified and not before.was as "isProved"`;
  const { accountId, address } = link;
  const [account] = await rows<{ isProved: boolean }>(transaction, sql, { accountId, address, passwordHash });
  const endsHolder = kind === 'take-back' || account?.isProved === true;
  if (endsHolder) {
    await removeAllFactors(transaction, accountId);
    await revokeAllKeysOf(transaction, userId);
  }
  await endSessionsOf(transaction, userId);
  await grantStore(transaction).revokeAllOf([userId]);
  return endsHolder ? 'holder-ended' : 'reset';
}

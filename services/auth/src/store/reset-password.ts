import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';
import { grantStore } from './grants.ts';
import { mailLinkStore } from './mail-links.ts';

interface Reset {
  readonly linkHash: Buffer;
  readonly userId: string;
  readonly passwordHash: string;
}

/**
 * Sets the password of the account of a link, and ends the link, all sessions and all grants of the person. Run it in a transaction. A link that
 * was mailed to the address of the account verifies that. False when the link works no more. The account is locked before its sessions
 * are deleted, so that a sign-in with the old password, which locks it too, begins none after it.
 */
export async function resetPassword(transaction: Knex, { linkHash, userId, passwordHash }: Reset): Promise<boolean> {
  const link = await mailLinkStore(transaction).use(linkHash, 'reset');
  if (link === null) return false;
  const sql = `update auth.accounts set password_hash = :passwordHash,
        email_verified = email_verified or coalesce(shown_email = :address, false)
      where id = :accountId`;
  const { accountId, address } = link;
  await rows(transaction, sql, { accountId, address, passwordHash });
  await rows(transaction, `delete from auth.sessions where user_id = :userId`, { userId });
  await grantStore(transaction).revokeAllOf(userId);
  return true;
}

import { rows } from '@wts/service-kit/postgres';
import type { Knex } from 'knex';

/**
 * Takes an address from an account that never proved it, for a person who does. Run it in the transaction that gives it to that person. Returns
 * the account that lost it.
 * `taken`: an account has it that proved it too, or whose row another transaction writes with it. Keeps authentication.mail.proved-address.
 */
export async function freeAddress(
  transaction: Knex,
  { comparableEmail, exceptId }: { readonly comparableEmail: string; readonly exceptId: string },
): Promise<{ readonly accountId: string } | 'taken' | null> {
  // Unique index accounts (email). The lock lasts until the address is given away.
  const find = `select id, email_verified as "isProved" from auth.accounts
    where email = :comparableEmail and id <> :exceptId for update`;
  const [holder] = await rows<{ id: string; isProved: boolean }>(transaction, find, { comparableEmail, exceptId });
  if (holder === undefined) return null;
  if (holder.isProved) return 'taken';
  await rows(transaction, `update auth.accounts set email = null, shown_email = '' where id = :id`, holder);
  return { accountId: holder.id };
}

/** Gives an account an address that its person proved. False when another account got it at the same moment. */
export async function giveAddress(
  transaction: Knex,
  address: { readonly accountId: string; readonly email: string; readonly comparableEmail: string },
): Promise<void> {
  const sql = `update auth.accounts set email = :comparableEmail, shown_email = :email, email_verified = true
    where id = :accountId`;
  await rows(transaction, sql, address);
}

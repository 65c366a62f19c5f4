import { comparableAddress } from '@wts/access';
import type { Knex } from 'knex';
import { makeResetLink } from '../links/make-link.ts';
import type { SecurityRecord } from '../record/security-record.ts';
import { ACCOUNT_ISSUER, accountStore } from '../store/accounts.ts';
import { identityStore } from '../store/identities.ts';
import { mailLinkStore } from '../store/mail-links.ts';
import type { PendingMail, ReadyMail } from './send-mails.ts';

interface PreparerOptions {
  readonly knex: Knex;
  readonly record: Pick<SecurityRecord, 'add'>;
  readonly issuer: string;
}

/**
 * Looks up whether the address of a mail has an account, at its first attempt and not when a person asks for it: so the answer to the
 * person, its work and its time are the same for every address. Keeps authentication.mail.no-oracle.
 */
export function preparerOf({
  knex,
  record,
  issuer,
}: PreparerOptions): (mail: PendingMail, to: string) => Promise<ReadyMail | null> {
  const accounts = accountStore(knex);
  const links = mailLinkStore(knex);
  const identities = identityStore(knex);
  return async (mail, to) => {
    if (mail.kind === 'reset-asked') {
      const account = await accounts.findByEmail(comparableAddress(to));
      if (account === null) return null;
      const { id: subjectId, url } = await makeResetLink({ links, issuer }, account, 'mailed');
      const { visitor } = mail.data;
      const identity = await identities.find({ issuer: ACCOUNT_ISSUER, subject: account.id });
      const person = identity === null ? {} : { userId: identity.userId };
      const about = { ...person, accountId: account.id, subjectId, visitor };
      await record.add({ kind: 'mail-link-asked', ...about, details: { mail: 'new password' } });
      // As its owner wrote the address: another spelling may be another mailbox.
      return { kind: 'password-reset', to: account.email, data: { url } };
    }
    if (mail.kind === 'registration-asked') {
      const account = await accounts.findByEmail(comparableAddress(to));
      const { url, signInUrl, name, workspaceName } = mail.data;
      // An account whose address is not verified may be of another person, who loses it when this person confirms.
      return account?.emailVerified
        ? { kind: 'already-registered', to: account.email, data: { url: signInUrl, workspaceName } }
        : { kind: 'registration', to, data: { url, name, workspaceName } };
    }
    return { ...mail, to };
  };
}

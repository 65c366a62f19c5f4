import { randomUUID } from 'node:crypto';
import { newOpaqueToken } from '../domain/opaque-token.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { Account } from '../store/accounts.ts';
import type { MailLinkStore, NewLink } from '../store/mail-links.ts';

interface LinkContext {
  readonly links: Pick<MailLinkStore, 'insert'>;
  readonly issuer: string;
}

interface MadeLink {
  readonly id: string;
  /** Shown once, never stored. */
  readonly url: string;
  readonly expiresAt: Date;
}

/** Makes a link for a person, which its page uses once. */
async function makeLink({ links, issuer }: LinkContext, link: Omit<NewLink, 'id' | 'hash'>): Promise<MadeLink> {
  const { token, hash } = newOpaqueToken('mailLink');
  const id = randomUUID();
  const expiresAt = await links.insert({ ...link, id, hash });
  return { id, url: `${issuer}/link?${new URLSearchParams({ token }).toString()}`, expiresAt };
}

/** A link to a page where the person of an account chooses a new password. `mailed`: it goes to the address of the account only. */
export function makeResetLink(
  context: LinkContext,
  { id, email }: Pick<Account, 'id' | 'email'>,
  by: 'mailed' | 'given',
): Promise<MadeLink> {
  const address = by === 'mailed' ? email : null;
  return makeLink(context, { kind: 'reset', accountId: id, address, lifeMs: AUTH_LIMITS.resetLinkMs });
}

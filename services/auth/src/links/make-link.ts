import { randomUUID } from 'node:crypto';
import { sealSecret, unsealSecret, type SecretKeys } from '@wts/service-kit/sealing';
import { newOpaqueToken } from '../domain/opaque-token.ts';
import { AUTH_LIMITS } from '../limits.ts';
import type { Account } from '../store/accounts.ts';
import type { MailLink, MailLinkStore, NewLink } from '../store/mail-links.ts';

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
export async function makeLink(
  { links, issuer }: LinkContext,
  link: Omit<NewLink, 'id' | 'hash'>,
  id: string = randomUUID(),
): Promise<MadeLink> {
  const { token, hash } = newOpaqueToken('mailLink');
  const expiresAt = await links.insert({ ...link, id, hash });
  return { id, url: `${issuer}/link?${new URLSearchParams({ token }).toString()}`, expiresAt };
}

/** A link for which something waits. */
export function makeLinkWith(
  context: LinkContext & { readonly secretKeys: SecretKeys },
  content: object,
  link: Omit<NewLink, 'id' | 'hash' | 'content'>,
): Promise<MadeLink> {
  const id = randomUUID();
  const sealed = sealSecret(context.secretKeys, id, Buffer.from(JSON.stringify(content)));
  return makeLink(context, { ...link, content: sealed }, id);
}

/** What waits for a link. */
export function contentOf(secretKeys: SecretKeys, { id, content }: Pick<MailLink, 'id' | 'content'>): unknown {
  if (content === null) throw new Error('a link of this kind has a content');
  return JSON.parse(unsealSecret(secretKeys, id, content).toString()) as unknown;
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

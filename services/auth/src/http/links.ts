import { pageApi } from '@wts/contracts';
import { sha256 } from '../domain/sha256.ts';
import type { PeopleContext } from '../people-context.ts';
import { endedLinkPage } from '../pages/link.ts';
import type { LinkKind, MailLink } from '../store/mail-links.ts';
import { mountPage, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import { addressLink, stopLink } from './address-links.ts';
import { invitationLink } from './invitation-link.ts';
import { registrationLink } from './registration-link.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import { resetLink } from './reset-link.ts';
import { passwordsClosed } from './sign-in.ts';

/** The others are of accounts with a password. */
const WITHOUT_ACCOUNTS: ReadonlySet<LinkKind> = new Set<LinkKind>(['stop-change', 'invitation']);

/**
 * Where links from mails and from the operator lead. Programs that look at mails open them too, so only the form changes something. Keeps
 * authentication.mail.links.
 */
export function mountLinks(pages: Pages, context: PeopleContext): void {
  const kinds: Readonly<Record<LinkKind, LinkPages>> = {
    reset: resetLink(pages, context, 'reset'),
    'take-back': resetLink(pages, context, 'take-back'),
    verify: addressLink(pages, context, 'verify'),
    change: addressLink(pages, context, 'change'),
    'stop-change': stopLink(pages, context),
    registration: registrationLink(pages, context),
    invitation: invitationLink(pages, context),
  };
  const ended = (link: MailLink | null): PageAnswer => ({
    status: link === null ? 404 : 410,
    page: endedLinkPage(pages.site, link),
  });
  const opened = async (
    call: PageCall,
    token: string,
    answer: (to: LinkPages, opened: OpenedLink) => Promise<PageAnswer | 'ended'>,
  ): Promise<PageAnswer> => {
    const hash = sha256(token);
    const link = await context.links.find(hash);
    if (link?.state !== 'open') return ended(link);
    const { kind, accountId, address } = link;
    if (!context.hasAccounts && !WITHOUT_ACCOUNTS.has(kind)) return { status: 403, page: passwordsClosed(pages) };
    const answered = await answer(kinds[kind], { call, token, hash, accountId, address });
    return answered === 'ended' ? ended(await context.links.find(hash)) : answered;
  };
  // Open without a factor, because a person proves an address, stops a change or gets a password back by a link before they add one.
  mountPage(pages, pageApi.linkPage, (call) => opened(call, call.query.text('token'), (to, link) => to.show(link)), {
    isOpenWithoutFactor: true,
  });
  mountPage(pages, pageApi.useLink, (call) => opened(call, call.form.text('token'), (to, link) => to.use(link)), {
    // The person may be signed in nowhere, or as another one.
    token: 'browser',
    isOpenWithoutFactor: true,
  });
}

import { pageApi } from '@wts/contracts';
import { sha256 } from '../domain/sha256.ts';
import { endedLinkPage } from '../pages/link.ts';
import type { LinkKind, MailLink } from '../store/mail-links.ts';
import { accountsClosed, mountPageWith, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import { addressLink, stopLink } from './address-links.ts';
import { invitationLink } from './invitation-link.ts';
import { registrationLink } from './registration-link.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import { resetLink } from './reset-link.ts';

/** The others are of accounts with a password. */
const WITHOUT_ACCOUNTS: ReadonlySet<LinkKind> = new Set<LinkKind>(['stop-change', 'invitation']);

/**
 * Where links from mails and from the operator lead. Programs that look at mails open them too, so only the form changes something. Keeps
 * authentication.mail.links.
 */
export function mountLinks(pages: Pages): void {
  const { site, links, hasAccounts } = pages;
  const kinds: Readonly<Record<LinkKind, LinkPages>> = {
    reset: resetLink(pages, 'reset'),
    'take-back': resetLink(pages, 'take-back'),
    verify: addressLink(pages, 'verify'),
    change: addressLink(pages, 'change'),
    'stop-change': stopLink(pages),
    registration: registrationLink(pages),
    invitation: invitationLink(pages),
  };
  const ended = (link: MailLink | null): PageAnswer => ({
    status: link === null ? 404 : 410,
    page: endedLinkPage(site, link),
  });
  const opened = async (
    call: PageCall,
    token: string,
    answer: (to: LinkPages, opened: OpenedLink) => Promise<PageAnswer | 'ended'>,
  ): Promise<PageAnswer> => {
    const hash = sha256(token);
    const link = await links.find(hash);
    if (link?.state !== 'open') return ended(link);
    const { kind, accountId, address } = link;
    if (!hasAccounts && !WITHOUT_ACCOUNTS.has(kind)) return accountsClosed(site);
    const answered = await answer(kinds[kind], { call, token, hash, accountId, address });
    return answered === 'ended' ? ended(await links.find(hash)) : answered;
  };
  // Open without a factor, because a person proves an address, stops a change or gets a password back by a link before they add one.
  const open = { isOpenWithoutFactor: true } as const;
  mountPageWith(pages, pageApi.linkPage, open, (call) =>
    opened(call, call.query.text('token'), (to, link) => to.show(link)),
  );
  // The person may be signed in nowhere, or as another one.
  mountPageWith(pages, pageApi.useLink, { ...open, token: 'browser' }, (call) =>
    opened(call, call.form.text('token'), (to, link) => to.use(link)),
  );
}

import { pageApi } from '@wts/contracts';
import { sha256 } from '../domain/sha256.ts';
import type { PeopleContext } from '../people-context.ts';
import { endedLinkPage } from '../pages/link.ts';
import type { LinkKind } from '../store/mail-links.ts';
import { mountPage, type PageAnswer, type PageCall, type Pages } from './mount-page.ts';
import { addressLink, stopLink } from './address-links.ts';
import { invitationLink } from './invitation-link.ts';
import { registrationLink } from './registration-link.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import { resetLink } from './reset-link.ts';

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
  const opened = async (
    call: PageCall,
    token: string,
    answer: (to: LinkPages, opened: OpenedLink) => Promise<PageAnswer | 'ended'>,
  ): Promise<PageAnswer> => {
    const hash = sha256(token);
    const link = await context.links.find(hash);
    const answered =
      link?.state === 'open'
        ? await answer(kinds[link.kind], { call, token, hash, accountId: link.accountId, address: link.address })
        : 'ended';
    if (answered !== 'ended') return answered;
    const ended = answered === 'ended' && link?.state === 'open' ? await context.links.find(hash) : link;
    return { status: ended === null ? 404 : 410, page: endedLinkPage(pages.site, ended) };
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

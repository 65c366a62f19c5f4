import { contentOf } from '../links/make-link.ts';
import type { LinkPages, OpenedLink } from './opened-link.ts';
import type { PageAnswer, Pages } from './mount-page.ts';

/** A mailed invitation leads to its page, which carries the link along as the proof of the address. */
export function invitationLink({ site, links, secretKeys }: Pages): LinkPages {
  const lead = async ({ token, hash }: OpenedLink): Promise<PageAnswer | 'ended'> => {
    const link = await links.find(hash);
    if (link === null) return 'ended';
    const { code } = contentOf(secretKeys, link) as { readonly code: string };
    return { to: site.url('/join', { code, proof: token }) };
  };
  return { show: lead, use: lead };
}

import { pageApi } from '@wts/contracts';
import { beginProviderSignIn, finishProviderSignIn } from '../commands/sign-in-at-provider.ts';
import type { PeopleContext } from '../people-context.ts';
import { sessionCookie } from './browser.ts';
import { mountPage, type Pages } from './mount-page.ts';
import { destinationOf, nextOf } from './sign-in.ts';

/** The sign-in at the identity provider. */
export function mountProvider(pages: Pages, context: PeopleContext): void {
  const { site } = pages;

  mountPage(pages, pageApi.providerSignIn, async ({ browser, query, network }) => ({
    to: await beginProviderSignIn(context, { browserId: browser.id, network }, nextOf(query)),
  }));
  mountPage(pages, pageApi.providerCallback, async ({ browser: { id, session }, query, visitor }) => {
    const answer = query.repeated.length > 0 ? null : `?${new URLSearchParams([...query.values]).toString()}`;
    const callback = { state: query.text('state'), browserId: id, query: answer, session, visitor };
    const { secret, next } = await finishProviderSignIn(context, callback);
    return { to: destinationOf(pages, next), cookies: [sessionCookie(site, secret)] };
  });
}

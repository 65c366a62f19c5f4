import { pageApi } from '@wts/contracts';
import { beginProviderSignIn, finishProviderSignIn } from '../commands/sign-in-at-provider.ts';
import { sessionCookie } from './browser.ts';
import { mountPage, type Pages } from './mount-page.ts';
import { destinationOf, nextOf } from './next-step.ts';

/** The sign-in at the identity provider. */
export function mountProvider(pages: Pages): void {
  const { site } = pages;

  mountPage(pages, pageApi.providerSignIn, async (call) => ({
    to: await beginProviderSignIn(pages, call, nextOf(call.query)),
  }));
  mountPage(pages, pageApi.providerCallback, async ({ browser: { id, session }, query, visitor }) => {
    const answer = query.repeated.length > 0 ? null : `?${new URLSearchParams([...query.values]).toString()}`;
    const callback = { state: query.text('state'), browserId: id, query: answer, session, visitor };
    const { secret, next } = await finishProviderSignIn(pages, callback);
    return { to: destinationOf(site, next), cookies: [sessionCookie(site, secret)] };
  });
}

import { Fault, pageApi } from '@wts/contracts';
import { randomBytes } from 'node:crypto';
import { beginSession } from '../commands/begin-session.ts';
import { sha256 } from '../domain/sha256.ts';
import type { PeopleContext } from '../people-context.ts';
import type { Fields } from '../pages/parts.ts';
import type { PendingKey } from '../store/pending-requests.ts';
import { sessionCookie } from './browser.ts';
import { mountPage, type Pages } from './mount-page.ts';
import { destinationOf, nextOf } from './sign-in.ts';

/** The sign-in at the identity provider. Only the browser that began it can end it. */
export function mountProvider(pages: Pages, context: PeopleContext): void {
  const { site, sessions } = pages;
  const { provider, pending } = context;

  mountPage(pages, pageApi.providerSignIn, async ({ browser, query }) => {
    if (provider === null) throw noProvider();
    const state = randomBytes(32).toString('base64url');
    const to = await provider.begin({ browserId: browser.id, state });
    await pending.insert(keyOf(state, browser.id), nextOf(query));
    return { to };
  });
  mountPage(pages, pageApi.providerCallback, async ({ browser, query, requestId, signal }) => {
    if (provider === null) throw noProvider();
    const state = query.text('state');
    const next = query.repeated.length > 0 ? null : await pending.take<Fields>(keyOf(state, browser.id));
    if (next === null) {
      const message = 'This sign-in has ended, or began in another browser. Start again.';
      throw new Fault('malformed_request', { message });
    }
    const claims = await provider.finish(`?${new URLSearchParams([...query.values]).toString()}`, {
      browserId: browser.id,
      state,
    });
    const userId = await context.resolve(claims, { requestId, signal });
    const secret = await beginSession(sessions, { userId, account: null });
    if (secret === null) throw new Error('a session without an account always begins');
    if (browser.session !== null) await sessions.end(browser.session.id);
    return { to: destinationOf(pages, next), cookies: [sessionCookie(site, secret)] };
  });
}

function keyOf(state: string, browserId: string): PendingKey {
  return { idHash: sha256(state), kind: 'provider', browserHash: sha256(browserId) };
}

function noProvider(): Fault {
  return new Fault('not_found', { message: 'This service has no identity provider. Sign in with your password.' });
}

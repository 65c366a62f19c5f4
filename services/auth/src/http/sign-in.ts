import { pageApi } from '@wts/contracts';
import { sendText } from '@wts/service-kit/http';
import { mountStream } from '@wts/service-kit/routes';
import type { NextStep } from '../commands/begin-second-step.ts';
import { signInByPassword } from '../commands/sign-in-by-password.ts';
import { signInUse } from '../commands/sign-in-by-passkey.ts';
import { signOut } from '../commands/end-sessions.ts';
import { shownAppName } from '../domain/shown-name.ts';
import type { Page } from '../pages/layout.ts';
import { messagePage } from '../pages/message.ts';
import { signInPage } from '../pages/sign-in.ts';
import { STYLE } from '../pages/style.ts';
import { findAuthorization } from './authorize.ts';
import { findConnection } from './connect.ts';
import { endedSessionCookie, formToken, sessionCookie } from './browser.ts';
import { mountPage, mountPageWith, pageWith, type PageCall, type Pages } from './mount-page.ts';
import { destinationOf, nextOf } from './next-step.ts';

const OPEN = { isOpenWithoutFactor: true } as const;

/** Where people sign in and out. */
export function mountSignIn(pages: Pages): void {
  const { router, site } = pages;

  mountStream(router, pageApi.style, async ({ req, res }) => {
    const headers = { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=300' };
    sendText(req, res, { status: 200, text: req.method === 'HEAD' ? '' : STYLE, headers });
  });

  mountPage(pages, pageApi.home, async ({ browser }) => ({
    to: site.url(browser.session === null ? '/sign-in' : '/account'),
  }));

  mountPageWith(pages, pageApi.signInPage, OPEN, async (call) => ({ page: await showSignIn(pages, call, {}) }));

  mountPageWith(pages, pageApi.signIn, { ...OPEN, token: 'browser', isOfAccounts: true }, async (call) => {
    const { form } = call;
    const email = form.text('email').slice(0, 320);
    const entered = { email, password: form.text('password') };
    const next = nextOf(form);
    const result = await signInByPassword(pages, { ...call, ...entered, session: call.browser.session, next });
    if (result.outcome === 'throttled') {
      const { retryAfterSeconds } = result;
      const wrong = tooMany(retryAfterSeconds);
      return { status: 429, retryAfterSeconds, page: await showSignIn(pages, call, { email, wrong }) };
    }
    if (result.outcome === 'wrong') {
      const wrong = 'This email and password do not match an account.';
      return pageWith(await showSignIn(pages, call, { email, wrong }), wrong);
    }
    if (result.outcome === 'second step') return { to: site.url('/sign-in/factor', { step: result.step }) };
    return { to: destinationOf(site, next), cookies: [sessionCookie(site, result.secret)] };
  });

  mountPageWith(pages, pageApi.signOut, OPEN, async ({ browser, form, visitor }) => {
    if (browser.session !== null) await signOut(pages, browser.session, visitor);
    const invitation = form.get('invitation');
    const to = invitation === undefined ? site.url('/signed-out') : site.url('/join', { code: invitation });
    return { to, cookies: [endedSessionCookie(site)] };
  });

  mountPageWith(pages, pageApi.signedOutPage, OPEN, async () => ({
    page: messagePage({
      title: 'You are signed out',
      text: 'Apps that you allowed keep their access until you revoke it in your account.',
      link: { to: site.path('/sign-in'), label: 'Sign in again' },
    }),
  }));
}

export function tooMany(retryAfterSeconds: number): string {
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const hours = Math.ceil(minutes / 60);
  const wait = minutes === 1 ? 'a minute' : hours > 1 ? `${hours} hours` : `${minutes} minutes`;
  return `Too many attempts failed. Try again in ${wait}.`;
}

interface Shown {
  readonly email?: string;
  readonly wrong?: string;
}

export async function showSignIn(pages: Pages, { browser, query, form }: PageCall, shown: Shown): Promise<Page> {
  const next = nextOf(form.values.size === 0 ? query : form);
  const { passkeys, factors, hasAccounts, provider } = pages;
  const now = hasAccounts && passkeys.arePossible ? await factors.now() : null;
  return signInPage(pages.site, {
    passkeyOptions: now === null ? null : passkeys.requestOptions(signInUse(browser.id), now),
    csrf: formToken(browser, 'browser'),
    next,
    appName: await nameOfWaiting(pages, next, browser.id),
    hasAccounts,
    providerName: provider?.name ?? null,
    ...shown,
  });
}

/** The name of the app or tool that waits; null for none of this browser. */
async function nameOfWaiting(pages: Pages, { request, connect }: NextStep, browserId: string): Promise<string | null> {
  if (request !== undefined) {
    const found = await findAuthorization(pages, request, browserId);
    return found === null ? null : shownAppName(found.clientName);
  }
  return connect === undefined ? null : ((await findConnection(pages, connect, browserId))?.toolName ?? null);
}

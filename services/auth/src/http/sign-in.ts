import { pageApi } from '@wts/contracts';
import { sendText } from '@wts/service-kit/http';
import { mountStream } from '@wts/service-kit/routes';
import type { NextStep } from '../commands/begin-second-step.ts';
import { signInByPassword } from '../commands/sign-in-by-password.ts';
import { signInUse } from '../commands/sign-in-by-passkey.ts';
import { AUTH_LIMITS } from '../limits.ts';
import { signOut } from '../commands/sign-out.ts';
import type { PeopleContext } from '../people-context.ts';
import type { Page } from '../pages/layout.ts';
import { messagePage } from '../pages/message.ts';
import { signInPage } from '../pages/sign-in.ts';
import { STYLE } from '../pages/style.ts';
import { nameOfApp } from './authorize.ts';
import { nameOfTool } from './connect.ts';
import { endedSessionCookie, formToken, sessionCookie } from './browser.ts';
import { guestOf } from './guest.ts';
import { mountPage, type PageCall, type Pages } from './mount-page.ts';
import type { Parameters } from './parameters.ts';

/** Where people sign in and out. */
export function mountSignIn(pages: Pages, context: PeopleContext): void {
  const { router, site } = pages;

  mountStream(router, pageApi.style, async ({ req, res }) => {
    const headers = { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=300' };
    sendText(req, res, { status: 200, text: req.method === 'HEAD' ? '' : STYLE, headers });
  });

  mountPage(pages, pageApi.home, async ({ browser }) => ({
    to: `${site.issuer}${browser.session === null ? '/sign-in' : '/account'}`,
  }));

  mountPage(pages, pageApi.signInPage, async (call) => ({ page: await showSignIn(pages, context, call, {}) }), {
    isOpenWithoutFactor: true,
  });

  mountPage(
    pages,
    pageApi.signIn,
    async (call) => {
      const { form } = call;
      if (!context.hasAccounts) return { status: 403, page: passwordsClosed(pages) };
      const email = form.text('email').slice(0, 320);
      const attempt = {
        ...guestOf(call),
        email,
        password: form.text('password'),
        session: call.browser.session,
        next: nextOf(form),
      };
      const result = await signInByPassword(context, attempt);
      if (result.outcome === 'throttled') {
        const { retryAfterSeconds } = result;
        const wrong = tooMany(retryAfterSeconds);
        return { status: 429, retryAfterSeconds, page: await showSignIn(pages, context, call, { email, wrong }) };
      }
      if (result.outcome === 'wrong') {
        const wrong = 'This email and password do not match an account.';
        return { status: 422, page: await showSignIn(pages, context, call, { email, wrong }) };
      }
      if (result.outcome === 'second step')
        return { to: `${site.issuer}/sign-in/factor?${new URLSearchParams({ step: result.step }).toString()}` };
      return { to: destinationOf(pages, nextOf(form)), cookies: [sessionCookie(site, result.secret)] };
    },
    { token: 'browser', isOpenWithoutFactor: true },
  );

  mountSignOut(pages, context);
}

function mountSignOut(pages: Pages, context: PeopleContext): void {
  const { site } = pages;
  mountPage(
    pages,
    pageApi.signOut,
    async ({ browser, form, visitor }) => {
      if (browser.session !== null) await signOut(context, browser.session, visitor);
      const invitation = form.get('invitation');
      const to =
        invitation === undefined ? '/signed-out' : `/join?${new URLSearchParams({ code: invitation }).toString()}`;
      return { to: `${site.issuer}${to}`, cookies: [endedSessionCookie(site)] };
    },
    { isOpenWithoutFactor: true },
  );

  mountPage(
    pages,
    pageApi.signedOutPage,
    async () => ({
      page: messagePage({
        title: 'You are signed out',
        text: 'Apps that you allowed keep their access until you revoke it in your account.',
        link: { to: site.path('/sign-in'), label: 'Sign in again' },
      }),
    }),
    { isOpenWithoutFactor: true },
  );
}

/** What the person does after the sign-in: only what this site knows, never an address from outside. */
export function nextOf(from: Parameters): NextStep {
  return { request: from.get('request'), connect: from.get('connect'), invitation: from.get('invitation') };
}

export function destinationOf({ site }: Pick<Pages, 'site'>, { request, connect, invitation }: NextStep): string {
  if (request !== undefined) return `${site.issuer}/consent?${new URLSearchParams({ request }).toString()}`;
  if (connect !== undefined)
    return `${site.issuer}/account/connect/decision?${new URLSearchParams({ request: connect }).toString()}`;
  if (invitation !== undefined) return `${site.issuer}/join?${new URLSearchParams({ code: invitation }).toString()}`;
  return `${site.issuer}/account`;
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

export async function showSignIn(
  { site }: Pages,
  context: PeopleContext,
  { browser, query, form }: PageCall,
  shown: Shown,
): Promise<Page> {
  const next = nextOf(form.values.size === 0 ? query : form);
  const { passkeys, factors, hasAccounts } = context;
  const now = hasAccounts && passkeys.arePossible ? await factors.now() : null;
  return signInPage(site, {
    passkeyOptions:
      now === null ? null : passkeys.requestOptions(signInUse(browser.id), now + AUTH_LIMITS.passkeyChallengeMs / 1000),
    csrf: formToken(browser, 'browser'),
    next,
    appName: await nameOfWaiting(context, next, browser.id),
    hasAccounts: context.hasAccounts,
    providerName: context.provider?.name ?? null,
    ...shown,
  });
}

async function nameOfWaiting(
  context: PeopleContext,
  { request, connect }: NextStep,
  browserId: string,
): Promise<string | null> {
  if (request !== undefined) return nameOfApp(context, request, browserId);
  return connect === undefined ? null : nameOfTool(context, connect, browserId);
}

/** Keeps authentication.accounts.off. */
export function passwordsClosed({ site }: Pick<Pages, 'site'>): Page {
  return messagePage({
    title: 'Passwords are not used here',
    text: 'The operator of this service closed the accounts with a password. Sign in with your organization.',
    link: { to: site.path('/sign-in'), label: 'Go to the sign-in' },
  });
}

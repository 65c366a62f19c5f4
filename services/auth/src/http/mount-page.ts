import { ERRORS, Fault, type Contract } from '@wts/contracts';
import { noteRequest, parseForm, readForm, sendText, toFault } from '@wts/service-kit/http';
import { mountStream, type Call } from '@wts/service-kit/routes';
import type { IRouter, Request } from 'express';
import type { Guest } from '../commands/sign-in-by-password.ts';
import type { PeopleContext } from '../context.ts';
import { headersOf, renderPage, type Page, type Site } from '../pages/layout.ts';
import { messagePage } from '../pages/message.ts';
import type { Session } from '../store/sessions.ts';
import { browserCookie, formToken, isFormToken, readBrowser, type Browser } from './browser.ts';
import { enrolAddress } from './next-step.ts';
import { networkOf, visitorOf } from './sender.ts';
import { Parameters, queryOf } from './parameters.ts';

/** What all pages need. */
export interface Pages extends PeopleContext {
  readonly router: IRouter;
  readonly site: Site;
}

export interface PageCall extends Guest {
  readonly browser: Browser;
  /** That of the page or form, with its parameters, after the path of the issuer. */
  readonly path: string;
  readonly query: Parameters;
  /** Empty for a GET. */
  readonly form: Parameters;
  readonly params: Readonly<Record<string, string>>;
}

export type PageAnswer = (
  | { readonly page: Page; readonly status?: number; readonly retryAfterSeconds?: number }
  /** An absolute URL. The status is 303, so that no browser repeats a form with a password there (RFC 9700 section 4.12). */
  | { readonly to: string }
) & { readonly cookies?: readonly string[] };

interface PageOptions {
  /** Which token the form must have; `either` is that of the session when there is one. `none` is for a form of other sites. */
  readonly token?: 'session' | 'browser' | 'either' | 'none';
  /** For a person of whom a second factor is required and who has none, too. All other pages lead them to the page that adds one. */
  readonly isOpenWithoutFactor?: boolean;
  /** Of accounts with a password, which the operator may have closed. */
  readonly isOfAccounts?: boolean;
}

type PageHandler = (call: PageCall) => Promise<PageAnswer>;

export function mountPage(pages: Pages, contract: Contract, handler: PageHandler): void {
  mountPageWith(pages, contract, {}, handler);
}

/**
 * Mounts a page or a form of pages. A form is refused unless it comes from a page of this site in the same browser. A fault is answered
 * with a page.
 */
export function mountPageWith(
  pages: Pages,
  contract: Contract,
  { token = 'session', isOpenWithoutFactor = false, isOfAccounts = false }: PageOptions,
  handler: PageHandler,
): void {
  const { router, site, sessions } = pages;
  mountStream(router, contract, async (call) => {
    const { req } = call;
    const visitor = visitorOf(call);
    let browser: Browser | null = null;
    try {
      browser = await readBrowser(req, site, sessions, visitor);
      const form = new Parameters(contract.method === 'POST' ? await readForm(req) : parseForm(''));
      if (contract.method === 'POST' && token !== 'none') {
        const of = token === 'either' ? (browser.session === null ? 'browser' : 'session') : token;
        checkForm(req, site, isFormToken(form.text('csrf'), formToken(browser, of)));
      }
      if (!isOpenWithoutFactor && browser.session?.lacksFactor === true) {
        send(call, site, browser, { to: enrolAddress(site, contract, queryOf(req)) });
        return;
      }
      if (isOfAccounts && !pages.hasAccounts) {
        send(call, site, browser, accountsClosed(site));
        return;
      }
      const answer = await handler({
        browser,
        browserId: browser.id,
        path: req.path,
        query: queryOf(req),
        form,
        params: req.params as Record<string, string>,
        network: networkOf(req),
        visitor,
        signal: call.signal,
      });
      send(call, site, browser, answer);
    } catch (failure) {
      const fault = toFault(failure);
      noteRequest(req, { details: null, failure: fault });
      const answer = faultPage(site, fault, { session: browser?.session ?? null, requestId: call.requestId });
      send(call, site, browser, answer);
    }
  });
}

/** A page, or the same again with what is wrong with its form. */
export function pageWith(
  page: Page,
  wrong: string | null | undefined,
): { readonly page: Page; readonly status?: number } {
  return wrong === null || wrong === undefined ? { page } : { page, status: 422 };
}

/** Keeps authentication.accounts.off. */
export function accountsClosed(site: Site): PageAnswer {
  const page = messagePage({
    title: 'Passwords are not used here',
    text: 'The operator of this service closed the accounts with a password. Sign in with your organization.',
    link: { to: site.path('/sign-in'), label: 'Go to the sign-in' },
  });
  return { status: 403, page };
}

/** Other sites can send forms here, but have no token and another origin. Keeps authentication.pages.forged-forms. */
function checkForm(req: Request, site: Site, hasToken: boolean): void {
  const { origin, 'sec-fetch-site': from } = req.headers;
  // Browsers send `null` with forms of a page whose referrer policy is `no-referrer`, as that of these pages is.
  const isForeign = origin !== undefined && origin !== 'null' && origin !== site.origin;
  // `none`: the person repeats the form, by a reload.
  const isCrossSite = from !== undefined && from !== 'same-origin' && from !== 'none';
  if (isForeign || isCrossSite || !hasToken) {
    throw new Fault('forbidden', {
      message: 'This form is out of date, or comes from another site. Go back, reload the page and try again.',
    });
  }
}

function send({ req, res }: Call, site: Site, browser: Browser | null, answer: PageAnswer): void {
  const cookies = [...(answer.cookies ?? []), ...(browser?.isNew ? [browserCookie(site, browser)] : [])];
  if (cookies.length > 0) res.setHeader('Set-Cookie', cookies);
  if ('to' in answer) {
    const headers = { ...headersOf({}), location: answer.to };
    sendText(req, res, { status: 303, text: '', headers });
    return;
  }
  const { page, status = 200, retryAfterSeconds } = answer;
  const headers = {
    ...headersOf(page),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  };
  sendText(req, res, { status, text: req.method === 'HEAD' ? '' : renderPage(site, page), headers });
}

interface FaultOptions {
  /** Without one the person may have no account. */
  readonly session: Session | null;
  readonly requestId: string;
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'This link is not valid',
  403: 'This is not allowed',
  404: 'Not found',
  409: 'This is not possible now',
  410: 'This link is no longer valid',
  429: 'Too many attempts',
  500: 'Something went wrong',
  503: 'Please try again in a moment',
};

function faultPage(site: Site, fault: Fault, { session, requestId }: FaultOptions): PageAnswer {
  const { status, publicMessage, retryAfterSeconds } = fault;
  const text = publicMessage ?? (status >= 500 ? SERVER_FAULT : ERRORS[fault.code].when.replaceAll('`', ''));
  const page = messagePage({
    title: TITLES[status] ?? ERRORS[fault.code].error,
    text,
    link:
      session === null
        ? { to: site.path('/sign-in'), label: 'Sign in' }
        : { to: site.path('/account'), label: 'Go to your account' },
    ...(status >= 500 ? { requestId } : {}),
  });
  return { page, status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) };
}

const SERVER_FAULT = 'The service has a problem and cannot answer now. Nothing was changed. Try again in a moment.';

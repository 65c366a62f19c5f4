import { ERRORS, Fault, type Contract } from '@wts/contracts';
import { noteRequest, parseForm, readForm, sendText, toFault } from '@wts/service-kit/http';
import { mountStream, type Call } from '@wts/service-kit/routes';
import type { IRouter, Request } from 'express';
import type { Visitor } from '../domain/security-event.ts';
import { headersOf, renderPage, type Page, type Site } from '../pages/layout.ts';
import { messagePage } from '../pages/message.ts';
import type { Session, Sessions } from '../store/sessions.ts';
import { browserCookie, formToken, isFormToken, readBrowser, type Browser } from './browser.ts';
import { enrolAddress } from './enrol-address.ts';
import { networkOf } from './network-of.ts';
import { visitorOf } from './visitor.ts';
import { Parameters, queryOf } from './parameters.ts';

/** What all pages need. */
export interface Pages {
  readonly router: IRouter;
  readonly site: Site;
  readonly sessions: Sessions;
}

export interface PageCall {
  readonly browser: Browser;
  readonly query: Parameters;
  /** Empty for a GET. */
  readonly form: Parameters;
  readonly params: Readonly<Record<string, string>>;
  /** The network of the client, as the gateway counts it. */
  readonly network: string;
  /** Where the request came from, for the security record. */
  readonly visitor: Visitor;
  readonly signal: AbortSignal;
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
}

/**
 * Mounts a page or a form of pages. A form is refused unless it comes from a page of this site in the same browser. A fault is answered
 * with a page.
 */
export function mountPage(
  pages: Pages,
  contract: Contract,
  handler: (call: PageCall) => Promise<PageAnswer>,
  { token = 'session', isOpenWithoutFactor = false }: PageOptions = {},
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
        const expected = formToken(
          browser,
          token === 'either' ? (browser.session === null ? 'browser' : 'session') : token,
        );
        checkForm(req, site, isFormToken(form.text('csrf'), expected));
      }
      if (!isOpenWithoutFactor && browser.session?.lacksFactor === true) {
        send(call, site, browser, { to: `${site.issuer}${enrolAddress(contract, queryOf(req))}` });
        return;
      }
      const answer = await handler({
        browser,
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
      send(
        call,
        site,
        browser,
        faultPage(site, fault, { session: browser?.session ?? null, requestId: call.requestId }),
      );
    }
  });
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

import { PRODUCT } from '../domain/product.ts';
import { html, type Html } from './html.ts';

/** The addresses of pages. They begin with the path of the issuer, when it has one. */
export interface Site {
  /** The origin that browsers send with forms of these pages. */
  readonly origin: string;
  readonly isHttps: boolean;
  path(path: string): string;
  /** The absolute address of a page, for a redirect. */
  url(path: string, query?: Readonly<Record<string, string>>): string;
}

/** `issuer` is AUTH_URL without a trailing slash. */
export function siteOf(issuer: string): Site {
  const { origin, pathname, protocol } = new URL(issuer);
  const prefix = pathname.replace(/\/$/, '');
  return {
    origin,
    isHttps: protocol === 'https:',
    path: (path) => `${prefix}${path}`,
    url: (path, query) => `${issuer}${path}${query === undefined ? '' : `?${new URLSearchParams(query).toString()}`}`,
  };
}

export interface Page {
  readonly title: string;
  readonly body: Html;
  /** A wider card, for lists. */
  readonly isWide?: boolean;
  /** Sources of the policy to which a form of this page leads besides this site: after an answer of 303, too. */
  readonly leadsTo?: readonly string[];
  /** It has buttons for passkeys, which need the script of this site. */
  readonly hasPasskeys?: boolean;
}

const MARK = html`<svg width="22" height="22" viewBox="0 0 22 22" fill="none" aria-hidden="true">
  <rect x="1.5" y="1.5" width="19" height="19" rx="5.5" stroke="currentColor" stroke-width="2" />
  <path
    d="m6.5 11.3 3 3 6-6.6"
    stroke="currentColor"
    stroke-width="2.2"
    stroke-linecap="round"
    stroke-linejoin="round"
  />
</svg>`;

export function renderPage(site: Site, { title, body, isWide = false, hasPasskeys = false }: Page): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title} · ${PRODUCT}</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="${site.path('/style.css')}">
${hasPasskeys ? html` <script src="${site.path('/passkeys.js')}" defer></script> ` : null}  </head>
  <body>
    <header class="product">${MARK} ${PRODUCT}</header>
    <main${isWide ? html` class="wide"` : null}>
      ${body}
    </main>
  </body>
</html>
`.text;
}

/**
 * No script runs, except one file of this site on pages with passkeys; no other site frames a page, nothing of it is stored or sent to other sites. Chromium applies `form-action` to
 * every redirect after a form too, so a page names where its form leads. Keeps authentication.pages.closed.
 */
export function headersOf({
  leadsTo = [],
  hasPasskeys = false,
}: Pick<Page, 'leadsTo' | 'hasPasskeys'>): Readonly<Record<string, string>> {
  const forms = ["'self'", ...leadsTo].join(' ');
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none';${hasPasskeys ? " script-src 'self';" : ''} style-src 'self'; img-src data:; base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`,
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
}

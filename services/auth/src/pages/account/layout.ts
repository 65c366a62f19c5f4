import { html, type Html } from '../html.ts';
import type { Page, Site } from '../layout.ts';
import { form, named, note } from '../parts.ts';

/** The pages of an account, in the order of their links. */
export const ACCOUNT_PAGES = {
  profile: { path: '/account', name: 'Profile' },
  security: { path: '/account/security', name: 'Security' },
  keys: { path: '/account/keys', name: 'API keys' },
  apps: { path: '/account/apps', name: 'Apps' },
} as const;

export type AccountPageName = keyof typeof ACCOUNT_PAGES;

interface AccountLayout {
  readonly page: AccountPageName;
  readonly csrf: string;
  readonly person: { readonly name: string; readonly email: string | null };
  /** What was just done, in a sentence. */
  readonly done: string | null;
  readonly sections: readonly Html[];
}

export function accountPage(site: Site, { page, csrf, person, done, sections }: AccountLayout): Page {
  const links = Object.entries(ACCOUNT_PAGES).map(
    ([name, to]) =>
      html`<a href="${site.path(to.path)}" ${name === page ? html`aria-current="page"` : null}>${to.name}</a>`,
  );
  return {
    title: page === 'profile' ? 'Your account' : `${ACCOUNT_PAGES[page].name} · Your account`,
    isWide: true,
    hasPasskeys: page === 'security',
    body: html`<div class="head">
        <div>
          <h1>${named(person.name)}</h1>
          <p class="quiet">${person.email === null ? 'No email' : named(person.email)}</p>
        </div>
        ${form(site.path('/sign-out'), { csrf }, html`<button type="submit" class="plain small">Sign out</button>`)}
      </div>
      <nav class="pages" aria-label="Your account">${links}</nav>
      ${done === null ? null : html`<div class="after">${note('done', done)}</div>`} ${sections}`,
  };
}

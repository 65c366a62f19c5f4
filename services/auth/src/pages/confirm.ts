import { html, type Html } from './html.ts';
import type { Page, Site } from './layout.ts';
import { form } from './parts.ts';

interface ConfirmPage {
  readonly csrf: string;
  readonly title: string;
  readonly heading: Html;
  /** What follows. */
  readonly text: string;
  /** The path of the form that does it. */
  readonly action: string;
  readonly label: string;
  /** The path of the page before. */
  readonly back: string;
}

/** Asks before something that cannot be undone. */
export function confirmPage(site: Site, { csrf, title, heading, text, action, label, back }: ConfirmPage): Page {
  return {
    title,
    body: html`<h1>${heading}</h1>
      <p>${text}</p>
      ${form(
        site.path(action),
        { csrf },
        html`<div class="choices">
          <button type="submit" class="danger">${label}</button>
          <a class="button plain" href="${site.path(back)}">Cancel</a>
        </div>`,
      )}`,
  };
}

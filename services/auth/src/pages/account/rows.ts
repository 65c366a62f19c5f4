import { html, type Html } from '../html.ts';
import type { Site } from '../layout.ts';

interface Row {
  readonly name: string;
  readonly about: Html;
  readonly more?: Html;
  /** What ends it; null where nothing does. */
  readonly end: Html | null;
}

/** Something that a person has, and may end. */
export function row({ name, about, more, end }: Row): Html {
  return html`<li>
    <div class="what"><bdi class="name">${name}</bdi><span class="quiet small">${about}</span>${more ?? null}</div>
    ${end}
  </li>`;
}

/** Leads to the page that asks again. A screen reader reads `label` instead of the text. */
export function endLink(site: Site, path: string, text: 'Revoke' | 'Remove', label: string): Html {
  return html`<a class="button plain small" href="${site.path(path)}" aria-label="${label}">${text}</a>`;
}

/** Rows, or what is shown without any. */
export function list(rows: readonly Html[], otherwise: Html | null): Html | null {
  if (rows.length === 0) return otherwise;
  return html`<ul class="rows">
    ${rows}
  </ul>`;
}

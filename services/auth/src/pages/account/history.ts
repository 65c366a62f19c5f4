import { sentenceOf, type StoredEvent } from '../../domain/security-event.ts';
import { html, type Html } from '../html.ts';
import type { Site } from '../layout.ts';
import { named } from '../parts.ts';
import { list } from './rows.ts';
import { placeOf, time } from './words.ts';

interface HistorySection {
  readonly events: readonly StoredEvent[];
  /** The event after which the next page begins. */
  readonly next: string | null;
  readonly isFirst: boolean;
}

export function historySection(site: Site, { events, next, isFirst }: HistorySection): Html {
  const rows = events.map((event) => {
    const { at, browser, network } = event;
    const by = whoDid(event);
    return html`<li>
      <div class="what">
        <span class="name"
          >${sentenceOf(event).map(({ text, isValue }) => (isValue ? named(text) : html`${text}`))}</span
        ><span class="quiet small"
          >${time(at)}${by === null ? null : html` · ${by}`}${browser === null ? null : html` · ${browser}`}${network === null ? null : html` · ${placeOf(network)}`}</span
        >
      </div>
    </li>`;
  });
  const page = site.path('/account/security');
  return html`<section aria-labelledby="history">
    <h2 id="history">History</h2>
    <p class="quiet">What happened with your account.</p>
    ${list(rows, html`<p class="note">${isFirst ? 'Nothing happened yet.' : 'There is nothing older.'}</p>`)}
    ${
      isFirst && next === null
        ? null
        : html`<div class="turn">
            ${isFirst ? null : html`<a class="button plain small" href="${page}#history">Newest</a>`}
            ${next === null ? null : html`<a class="button plain small" href="${page}?before=${next}#history">Older</a>`}
          </div>`
    }
  </section>`;
}

/** Null for the person themselves. */
function whoDid({ actor, actorId, userId }: StoredEvent): string | null {
  if (actor === 'operator') return 'by the operator of this service';
  if (actor === 'system') return 'by this service';
  return actorId === null || actorId === userId ? null : 'by an owner of the workspace';
}

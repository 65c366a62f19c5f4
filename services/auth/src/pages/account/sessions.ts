import type { ListedSession } from '../../store/sessions.ts';
import { html, type Html } from '../html.ts';
import type { Site } from '../layout.ts';
import { form } from '../parts.ts';
import { list, row } from './rows.ts';
import { placeOf, time } from './words.ts';

interface SessionsSection {
  readonly csrf: string;
  readonly sessions: readonly ListedSession[];
  readonly currentId: string;
}

export function sessionsSection(site: Site, { csrf, sessions, currentId }: SessionsSection): Html {
  const rows = sessions.map(({ id, browser, network, lastNetwork, createdAt, lastUsedAt }) => {
    const isCurrent = id === currentId;
    const name = browser ?? 'A browser';
    const used = isCurrent ? html`in use now` : html`used ${time(lastUsedAt)}`;
    return row({
      name,
      about: html`${isCurrent ? html`<strong>This browser</strong> · ` : null}${placeOf(lastNetwork ?? network)} ·
      ${used} · signed in ${time(createdAt)}`,
      end: isCurrent
        ? null
        : form(
            site.path(`/account/sessions/${id}/end`),
            { csrf },
            html`<button type="submit" class="plain small" aria-label="End the session in ${name}">End</button>`,
          ),
    });
  });
  return html`<section aria-labelledby="sessions">
    <h2 id="sessions">Sessions</h2>
    <p class="quiet">Browsers in which you are signed in. End one that you do not know, and change your password.</p>
    ${list(rows, null)}
    ${
      rows.length < 2
        ? null
        : form(
            site.path('/account/sessions/end-others'),
            { csrf },
            html`<button type="submit" class="plain">Sign out everywhere else</button>`,
          )
    }
  </section>`;
}

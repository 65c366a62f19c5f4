import { isUuid } from '@wts/contracts';
import * as sections from '../../pages/account/history.ts';
import type { Section } from './view.ts';

const EVENTS_SHOWN = 10;

/** What happened with the account, a page at a time. Keeps authentication.record.history. */
export const historySection: Section = async ({ pages, call, session }) => {
  const given = call.query.get('before');
  const before = given !== undefined && isUuid(given) ? given : undefined;
  const events = await pages.events.listOf(session.userId, { before, limit: EVENTS_SHOWN + 1 });
  const shown = events.slice(0, EVENTS_SHOWN);
  const next = events.length > EVENTS_SHOWN ? (shown.at(-1)?.id ?? null) : null;
  return sections.historySection(pages.site, { events: shown, next, isFirst: before === undefined });
};

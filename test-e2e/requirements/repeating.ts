import type { Rows } from './rule.ts';

/** Tasks that repeat. */
// prettier-ignore
export const repeating: Rows = [
  ['sync.repeat.fields', 'The newest task of a series has its rule, its first day, its number and the day of the next one; clients set the rule and what it counts from, and nothing else.', 'services/sync/src/rules/series.ts', 'Design 6'],
  ['sync.repeat.skip', 'A repeating task that is skipped goes to the next day of its rule in one entry, without being completed; who names the day to skip skips it once.', 'services/sync/src/rules/series.ts', 'Design 6'],
  ['sync.repeat.completion', 'Completing the newest task of a series creates the next one in the same commit, as the entry right behind: on the next day of the rule that is not before today, with the properties of the completed one, an open checklist and no comments.', 'services/sync/src/rules/occurrence.ts', 'Design 6'],
  ['sync.repeat.by-date', 'A series by date has its next task when its day begins in the time zone of the workspace, also while the one before is open; after days on which no scheduler ran it has one, for the latest of them.', 'services/sync/src/schedule/repeats.ts', 'Design 6'],
  ['sync.repeat.once', 'No day of a series is created twice and none is missing, by whichever people and replicas its tasks are completed, reopened or skipped, after crashes and changes of clocks.', 'services/sync/src/rules/occurrence.ts', 'Design 6'],
  ['sync.repeat.waiting', 'A series by date with as many open tasks as `REPEAT_OPEN_MAX` allows creates no more, says so in `repeatWaiting`, and goes on with a day to come.', 'services/sync/src/rules/occurrence.ts', 'Design 6'],
  ['sync.repeat.error', 'Where the next task cannot be created, the task says why in `repeatError` and its completion succeeds; other series go on, and any change of the task tries again.', 'services/sync/src/rules/occurrence.ts', 'Design 6'],
];

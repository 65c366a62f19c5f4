import type { Rule } from './rule.ts';

/** Tasks that repeat. */
export const repeating: readonly Rule[] = [
  {
    id: 'sync.repeat.fields',
    source: 'Design 6',
    text: 'The newest task of a series has its rule, its first day, its number and the day of the next one; clients set the rule and what it counts from, and nothing else.',
    home: 'services/sync/src/commit/series.ts',
    status: 'kept',
  },
  {
    id: 'sync.repeat.skip',
    source: 'Design 6',
    text: 'A repeating task that is skipped goes to the next day of its rule in one entry, without being completed.',
    home: 'services/sync/src/commit/series.ts',
    status: 'kept',
  },
];

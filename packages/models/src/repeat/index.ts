export { ruleText } from './rule-days.ts';
export type { Day } from './rule-days.ts';
export {
  beginningOf,
  completionDay,
  dayAt,
  dayOf,
  hasNoDay,
  nextAfterCompletion,
  nextByDate,
  nextDueDay,
  previewDays,
} from './series.ts';
export type { Calendar, NextOccurrence, Occurrence } from './series.ts';

export { hasNoDay } from './rule-days.ts';
export {
  afterSkip,
  calendarAt,
  dayOf,
  isOver,
  nextDueDay,
  type Calendar,
  type NextOccurrence,
  type Occurrence,
} from './series.ts';

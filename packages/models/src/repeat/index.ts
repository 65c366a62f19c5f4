export {
  afterSkip,
  calendarAt,
  dayOf,
  nextDueDay,
  previewDays,
  ruleFault,
  type Calendar,
  type NextOccurrence,
  type Occurrence,
} from './series.ts';

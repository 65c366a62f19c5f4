import { Fault } from '@wts/contracts';

/** A time that the caller gave. The format allows some that `Date` refuses, such as a leap second. */
export function timeOf(name: string, text: string): Date {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new Fault('validation_failed', {
    message: `${name} must be a time of the calendar, such as 2026-11-21T09:00:00.000Z.`,
  });
}

import { counted } from './counted.ts';
import type { Look } from './look.ts';

const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** `3 hours ago`, `in 2 days`. */
export function ago(iso: string, { now }: Pick<Look, 'now'>): string {
  const ms = Date.parse(iso) - now.getTime();
  if (Math.abs(ms) < 60_000) return 'just now';
  return ms < 0 ? `${durationText(-ms)} ago` : `in ${durationText(ms)}`;
}

/** `3 hours`, in the largest unit of which there is one. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const [unit, size] = UNITS.find(([, one]) => seconds >= one) ?? (['second', 1] as const);
  const count = Math.floor(seconds / size);
  return counted(count, unit);
}

/** `today`, `tomorrow`, `Thu 3 Dec`, with the year when it is another one. */
export function dayText(day: string, { now, timezone }: Pick<Look, 'now' | 'timezone'>): string {
  const today = dayIn(now, timezone);
  const distance = Math.round((Date.parse(day) - Date.parse(today)) / 86_400_000);
  const near = new Map([
    [-1, 'yesterday'],
    [0, 'today'],
    [1, 'tomorrow'],
  ]).get(distance);
  return near ?? fullDay(day, today);
}

/** `tomorrow (Fri 27 Nov)`: an echo of what a word meant, which also shows a clock that is wrong. */
export function exactDayText(day: string, look: Pick<Look, 'now' | 'timezone'>): string {
  const [word, full] = [dayText(day, look), fullDay(day, dayIn(look.now, look.timezone))];
  return word === full ? full : `${word} (${full})`;
}

function fullDay(day: string, today: string): string {
  const year = day.slice(0, 4) === today.slice(0, 4) ? undefined : ('numeric' as const);
  const options = { timeZone: 'UTC', weekday: 'short', day: 'numeric', month: 'short', year } as const;
  return new Intl.DateTimeFormat('en-GB', options).format(new Date(`${day}T00:00:00Z`)).replace(',', '');
}

function dayIn(now: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(now);
}

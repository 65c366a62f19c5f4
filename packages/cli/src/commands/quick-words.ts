import { dayOf, PRIORITIES, WordError, type Today } from '@wts/models/words';
import { repeatOf, type Repeat } from './repeat-words.ts';

/** What quick words say about a new task. */
export interface QuickWords {
  readonly title: string;
  /** After `#`: a project, or else a label. */
  readonly tags: readonly string[];
  /** After `@`: a person. */
  readonly people: readonly string[];
  readonly priority: number | null;
  readonly deadlineAt: string | null;
  readonly startDate: string | null;
  readonly repeat: Repeat | null;
}

/** `#home`, `@"Ana Maria"`, `!2`, `!high`; a backslash before it makes it a part of the title. */
const MARK = /(?<=^|\s)([#@!])("[^"]{1,200}"|[^\s"]{1,200})(?=\s|$)/g;
/** A shorter name of a weekday at the end may be a word of the title, such as sun. */
const PLAIN_DAY =
  /^(?:today|tomorrow|\d{4}-\d\d-\d\d|[+]\d{1,4}[dwmy]|next week|end of month|in \d{1,4} (?:day|week|month|year)s?|in an? (?:day|week|month|year)|(?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)$/i;
const PHRASE_WORDS_MAX = 4;

/**
 * Reads one line: `Pay rent every 1st #home @ana !2`. Days and repetition stand at its end, before or after the marks, with `due`,
 * `by`, `on` or `starts` before them, or plainly.
 */
export function quickWordsOf(text: string, today: Today): QuickWords {
  const marks = { '#': [] as string[], '@': [] as string[], '!': [] as string[] };
  const rest = text.replaceAll(MARK, (whole, mark: '#' | '@' | '!', given: string) => {
    const value = given.replaceAll('"', '');
    if (mark === '!' && priorityOf(value) === null) return whole;
    marks[mark].push(value);
    return ' ';
  });
  const { words, ...days } = withoutDays(
    rest.split(/\s+/).filter((word) => word !== ''),
    today,
  );
  const title = words.join(' ').replaceAll(/\\(?=[#@!])/g, '');
  const [priority] = marks['!'];
  return {
    title,
    tags: marks['#'],
    people: marks['@'],
    priority: priority === undefined ? null : priorityOf(priority),
    ...days,
  };
}

function priorityOf(word: string): number | null {
  const named = PRIORITIES.findIndex((one) => one === word.toLowerCase());
  if (named !== -1) return named;
  return /^[0-4]$/.test(word) ? Number(word) : null;
}

interface Days {
  readonly deadlineAt: string | null;
  readonly startDate: string | null;
  readonly repeat: Repeat | null;
}

/** Takes phrases from the end as long as they are days, and leaves at least one word. */
function withoutDays(given: readonly string[], today: Today): Days & { readonly words: readonly string[] } {
  let words = given;
  const days: { -readonly [Name in keyof Days]: Days[Name] } = { deadlineAt: null, startDate: null, repeat: null };
  for (;;) {
    const found = phraseOf(words, today, days);
    if (found === null) return { ...days, words };
    Object.assign(days, found.days);
    words = words.slice(0, -found.count);
  }
}

function phraseOf(
  words: readonly string[],
  today: Today,
  known: Days,
): { readonly days: Partial<Days>; readonly count: number } | null {
  const every = words.findLastIndex((word) => /^(?:every|each|daily|weekly|monthly|yearly)$/i.test(word));
  if (known.repeat === null && every > 0) {
    const repeat = readable(() => repeatOf(words.slice(every).join(' '), today));
    if (repeat !== null) return { days: { repeat }, count: words.length - every };
  }
  for (let count = Math.min(PHRASE_WORDS_MAX, words.length - 1); count > 0; count -= 1) {
    const phrase = words.slice(-count).join(' ');
    const before = words.at(-count - 1)?.toLowerCase() ?? '';
    const isStart = /^(?:start|starts|starting|from)$/.test(before);
    const isDue = /^(?:due|by|on)$/.test(before);
    if (isStart ? known.startDate !== null : known.deadlineAt !== null) continue;
    if (!isStart && !isDue && !PLAIN_DAY.test(phrase)) continue;
    if ((isStart || isDue) && count + 1 === words.length) continue;
    const day = readable(() => dayOf(phrase, today));
    if (day !== null)
      return { days: isStart ? { startDate: day } : { deadlineAt: day }, count: count + (isStart || isDue ? 1 : 0) };
  }
  return null;
}

function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof WordError) return null;
    throw error;
  }
}

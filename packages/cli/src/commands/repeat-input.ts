import { todayIn } from '@wts/models/words';
import type { Call } from '../call.ts';
import { repeatOf } from './repeat-words.ts';

/**
 * The input of GraphQL for words about repetition. A rule by date needs a day, so where none is given, the task is due on the first
 * day of the rule.
 */
export function repeatInputOf(
  words: string | undefined,
  { io, options }: Pick<Call, 'io' | 'options'>,
  hasDay = options.has('due') || options.has('start'),
): object {
  if (words === undefined) return {};
  if (/^(?:none|never|stop|off)$/i.test(words.trim())) return { repeatRule: null };
  const { rule, from, firstDay } = repeatOf(words, todayIn(io.timezone, io.now()));
  return { repeatRule: rule, repeatFrom: from, ...(hasDay || from === 'completion' ? {} : { deadlineAt: firstDay }) };
}

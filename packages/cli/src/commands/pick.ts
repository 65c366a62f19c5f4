import { CliFault } from '../fault.ts';

interface Picked<Row> {
  readonly nouns: readonly [one: string, many: string];
  /** Whether a word in lower case is all of a name of the row. */
  readonly isExact: (row: Row, word: string) => boolean;
  /** Whether it is a part that a person may write instead. */
  readonly isNear: (row: Row, word: string) => boolean;
  readonly shown: (row: Row) => string;
  readonly listedBy: string;
}

export const isId = (word: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(word);

/** The one of all records that a word names: all of a name before a part of one, or the beginning of an id. */
export function pick<Row extends { readonly id: string }>(
  word: string,
  all: readonly Row[],
  { nouns: [one, many], isExact, isNear, shown, listedBy }: Picked<Row>,
): Row {
  const text = word.toLowerCase();
  const exact = all.filter((row) => isExact(row, text));
  const near = all.filter((row) => (text.length >= 4 && row.id.startsWith(text)) || isNear(row, text));
  const [found, ...others] = exact.length > 0 ? exact : near;
  if (found === undefined)
    throw new CliFault('not-found', `No ${one} is named ${JSON.stringify(word)}.`, { hint: `${listedBy}.` });
  if (others.length === 0) return found;
  const hint = [found, ...others].map((row) => `${row.id}  ${shown(row)}`).join('\n');
  throw new CliFault('refused', `${JSON.stringify(word)} may mean several ${many}.`, { code: 'ambiguous', hint });
}

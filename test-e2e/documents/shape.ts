const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
/** What differs between two runs, in the order in which it is looked for, and the pattern that takes its place. */
const CHANGING: readonly (readonly [example: string, pattern: string])[] = [
  [UUID.source, UUID.source],
  ['[0-9a-f]{8}-…', UUID.source],
  ['\\bwts_\\w+…', 'wts_\\w+'],
  ['…', '.*?'],
  ['\\d+(?:\\.\\d+)?', '\\d+(?:\\.\\d+)?'],
  ['\\s*\\n\\s*', '\\s*'],
  ['[ \\t]+', '[ \\t]+'],
];
const PARTS = new RegExp(CHANGING.map(([example]) => `(${example})`).join('|'), 'gu');

/**
 * A pattern for output that is the same except for ids, keys, numbers, line breaks and what `…` leaves out. More may stand
 * before and after it.
 */
export function shapeOf(output: string): RegExp {
  let source = '';
  let end = 0;
  const text = output.trim();
  for (const match of text.matchAll(PARTS)) {
    source += RegExp.escape(text.slice(end, match.index));
    source += CHANGING[match.slice(1).findIndex((part) => part !== undefined)]?.[1] ?? '';
    end = match.index + match[0].length;
  }
  return new RegExp(source + RegExp.escape(text.slice(end)));
}

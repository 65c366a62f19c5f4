/** What a text must have at a place to be JSON. */
type Wanted = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end';

/** A place, and what is wrong there. */
interface JsonFault {
  readonly at: number;
  readonly what: string;
}

/**
 * The line, the column and the mistake of a text that `JSON.parse` refused, whose own message differs between its versions and
 * quotes the text. Reads the beginning of the text once. Null for short JSON.
 */
export function describeJsonFault(text: string): string | null {
  const fault = findFault(text);
  if (fault === null) return null;
  const { at, what } = fault;
  if (at >= READ_CHARS_MAX) return `the mistake is after its first ${READ_CHARS_MAX} characters`;
  const lines = text.slice(0, at).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}: ${what}`;
}

/** Reading takes ten times as long as parsing, and megabytes of escapes or line breaks would hold up the requests of others. */
const READ_CHARS_MAX = 256 * 1024;

function findFault(text: string): JsonFault | null {
  const open: string[] = [];
  let wanted: Wanted = 'value';
  const readEnd = Math.min(text.length, READ_CHARS_MAX);
  for (let at = blanksEnd(text, 0); ; at = blanksEnd(text, at)) {
    const char = text.charAt(at);
    if (at >= readEnd) return at === text.length && isWhole(open, wanted) ? null : { at, what: CUT };
    const closes = open.at(-1);
    if (char === closes && wanted.endsWith('end')) {
      open.pop();
      wanted = 'comma or end';
      at += 1;
    } else if (wanted === 'colon' || wanted === 'comma or end') {
      if (!isSeparator(char, wanted, closes)) return { at, what: missing(wanted, char, closes) };
      wanted = wanted === 'comma or end' && closes === '}' ? 'name' : 'value';
      at += 1;
    } else if (wanted.startsWith('value') && (char === '{' || char === '[')) {
      open.push(char === '{' ? '}' : ']');
      wanted = char === '{' ? 'name or end' : 'value or end';
      at += 1;
    } else {
      const isName: boolean = wanted.startsWith('name');
      const end = wordEnd(text, at, isName ? 'name' : 'value');
      if (typeof end !== 'number') return end;
      at = end;
      wanted = isName ? 'colon' : 'comma or end';
    }
  }
}

function isWhole(open: readonly string[], wanted: Wanted): boolean {
  return open.length === 0 && wanted === 'comma or end';
}

function isSeparator(char: string, wanted: Wanted, closes: string | undefined): boolean {
  return wanted === 'colon' ? char === ':' : char === ',' && closes !== undefined;
}

const CUT = 'the text ends before it is complete';
const BLANKS = /[ \t\n\r]*/y;
const WORD = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function blanksEnd(text: string, at: number): number {
  return at + (matchAt(BLANKS, text, at) ?? 0);
}

/** The length of the match at this place. */
function matchAt(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex - at : null;
}

function stringEnd(text: string, start: number): number | JsonFault {
  const end = Math.min(text.length, READ_CHARS_MAX);
  for (let at = start + 1; at < end; at += 1) {
    const char = text[at] as string;
    if (char === '"') return at + 1;
    if (char < ' ')
      return { at, what: 'a line break or another control character in a string must be escaped, as \\n' };
    if (char !== '\\') continue;
    const length = matchAt(ESCAPE, text, at);
    if (length === null) return { at, what: 'this escape does not exist; a backslash itself is \\\\' };
    at += length - 1;
  }
  return end < text.length ? end : { at: end, what: 'a string is not closed' };
}

/** The end of a string, a number or a literal; a name is a string. */
function wordEnd(text: string, at: number, wanted: 'name' | 'value'): number | JsonFault {
  if (text[at] === '"') return stringEnd(text, at);
  const length = wanted === 'name' ? null : matchAt(WORD, text, at);
  return length === null ? { at, what: misplaced(text, at, wanted) } : at + length;
}

function missing(wanted: 'colon' | 'comma or end', char: string, closes: string | undefined): string {
  if (wanted === 'colon') return 'a colon must follow the name';
  if (char === '/') return COMMENT;
  return closes === undefined ? 'more text follows the value' : `a comma or ${closes} must follow the value`;
}

const COMMENT = 'JSON has no comments';

function misplaced(text: string, at: number, wanted: 'name' | 'value'): string {
  const char = text[at] as string;
  if (char === '/') return COMMENT;
  if (char === "'") return 'strings and names must be in double quotes';
  if (char === '}' || char === ']' || char === ',')
    return `a ${wanted} is missing here; the last one has no comma after it`;
  return wanted === 'name'
    ? 'a name in double quotes must be here'
    : 'no JSON value: use a string in double quotes, a number, true, false, null, { or [';
}

import { Fault } from './errors.ts';
import { describeJsonFault } from './json-fault.ts';
import { LIMITS } from './limits.ts';

interface JsonTextFacts {
  /** Members of all objects, counted by their colons. */
  readonly members: number;
  /** An upper bound of the values: each follows an opening bracket or a comma, or is the whole text. */
  readonly values: number;
  /** The text has a `\u` escape: NUL and lone surrogates come only from these. */
  readonly escapes: boolean;
  /** A number has an exponent or very many digits: Infinity comes only from these. */
  readonly largeNumbers: boolean;
}

/**
 * Parses JSON of requests (bodies, socket frames, parts of tokens), the same way in every service, so that two services never read
 * one text differently. Refused, always as a Fault: invalid UTF-8, a byte order mark, nesting deeper than LIMITS.jsonDepth and more
 * values than LIMITS.jsonValuesMax (both found before parsing, because parsers and validators recurse, and take a hundred times
 * longer for a value than for a byte), the same key twice in one object, NUL and lone surrogates (PostgreSQL stores neither),
 * numbers too large for a double.
 * Keeps errors.400.bad-text, errors.400.json.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf)
    throw malformed('The JSON text starts with a byte order mark.');
  const facts = scan(bytes);
  const value = parse(decode(bytes));
  const found = { members: 0, isUnstorable: false };
  walk(value, facts, found);
  if (found.isUnstorable) {
    const place = unstorablePlace(value)?.slice(0, PLACE_CHARS_MAX).toWellFormed();
    throw invalid(`The JSON text contains a NUL character or an unpaired surrogate${place ? ` in ${place}` : ''}.`);
  }
  // JSON.parse keeps the last of two equal keys, so the value then has fewer members than the text.
  if (found.members !== facts.members) throw malformed('The JSON text has an object with the same key twice.');
  return value;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw malformed('The JSON text is not valid UTF-8.', cause);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    if (text.trim() === '') throw malformed('The JSON text is empty.', cause);
    throw malformed(`The text is not valid JSON: ${describeJsonFault(text) ?? 'it cannot be read'}.`, cause);
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
/** Any number with fewer digits fits a double. */
const DIGITS_SAFE = 300;

function scan(bytes: Uint8Array): JsonTextFacts {
  let depth = 0;
  let members = 0;
  let values = 1;
  const strings = new Strings(bytes);
  let largeNumbers = false;
  let digits = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte >= 0x30 && byte <= 0x39) {
      digits += 1;
      continue;
    }
    if (digits > 0) {
      // A number ends or continues with a fraction or an exponent.
      if (digits > DIGITS_SAFE || byte === 0x65 || byte === 0x45) largeNumbers = true;
      digits = 0;
    }
    if (byte === QUOTE) {
      at = strings.endOf(at);
    } else if (byte === 0x3a) {
      members += 1;
    } else if (byte === COMMA || byte === 0x7b || byte === 0x5b) {
      values += 1;
      // Checked here and not at the end, because scanning the rest of four megabytes takes many times as long.
      if (values > LIMITS.jsonValuesMax) {
        throw malformed(
          `The JSON text contains more than ${LIMITS.jsonValuesMax} values; send them in several requests.`,
        );
      }
      if (byte === COMMA) continue;
      depth += 1;
      if (depth > LIMITS.jsonDepth) throw malformed(`The JSON text is nested deeper than ${LIMITS.jsonDepth} levels.`);
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    }
  }
  return { members, values, escapes: strings.hasEscapes, largeNumbers: largeNumbers || digits > DIGITS_SAFE };
}

/** So many bytes are compared one by one before `indexOf`, which is ten times as fast and slow to start. */
const NEAR_BYTES = 64;

/** Finds the ends of strings. Each byte is read at most twice. */
class Strings {
  /** One of them has a `\\u` escape. */
  hasEscapes = false;
  readonly #bytes: Uint8Array;
  /** The next quote and backslash; searched again only after them. */
  #quote = -1;
  #backslash = -1;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The end of the string that begins here; the end of the text when it is not closed. */
  endOf(start: number): number {
    const bytes = this.#bytes;
    for (let at = this.#special(start + 1); at < bytes.length; at = this.#special(at + 2)) {
      if (bytes[at] === QUOTE) return at;
      this.hasEscapes ||= bytes[at + 1] === 0x75;
    }
    return bytes.length;
  }

  /** The next quote or backslash. */
  #special(from: number): number {
    const bytes = this.#bytes;
    const near = from + NEAR_BYTES;
    for (let at = from; at < near; at += 1) if (bytes[at] === QUOTE || bytes[at] === BACKSLASH) return at;
    if (this.#quote < near) this.#quote = this.#find(QUOTE, near);
    if (this.#backslash < near) this.#backslash = this.#find(BACKSLASH, near);
    return Math.min(this.#quote, this.#backslash);
  }

  #find(byte: number, from: number): number {
    const at = this.#bytes.indexOf(byte, from);
    return at === -1 ? Infinity : at;
  }
}

function walk(value: unknown, facts: JsonTextFacts, found: { members: number; isUnstorable: boolean }): void {
  if (typeof value === 'string') {
    if (facts.escapes) found.isUnstorable ||= !isStorableText(value);
  } else if (typeof value === 'number') {
    if (facts.largeNumbers && !Number.isFinite(value)) throw invalid('The JSON text contains a number out of range.');
  } else if (Array.isArray(value)) {
    for (const item of value) walk(item, facts, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const key in value) {
      found.members += 1;
      if (facts.escapes) found.isUnstorable ||= !isStorableText(key);
      walk((value as Record<string, unknown>)[key], facts, found);
    }
  }
}

/** Texts of people in an error are short. */
const PLACE_CHARS_MAX = 200;

/**
 * Where the first text is that no store can store, such as `/transactions/3/payload/title`: one of a batch makes all of it unreadable, so
 * the caller needs to know which. Null when there is none.
 */
function unstorablePlace(value: unknown): string | null {
  if (typeof value === 'string') return isStorableText(value) ? null : '';
  if (typeof value !== 'object' || value === null) return null;
  for (const [key, part] of Object.entries(value)) {
    if (!isStorableText(key)) return '';
    const place = unstorablePlace(part);
    if (place !== null) return `/${key}${place}`;
  }
  return null;
}

/** True for text that every store can store unchanged: no NUL, no unpaired surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000');
}

function malformed(message: string, cause?: unknown): Fault {
  return new Fault('malformed_json', { message, cause });
}

function invalid(message: string): Fault {
  return new Fault('validation_failed', { message });
}

/** JSON with the fields of objects in one order, because callers may write those of the same request in any. */
export function orderedJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

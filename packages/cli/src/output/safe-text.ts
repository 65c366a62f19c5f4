/*
 * Texts of people may have control characters: a title could move the cursor, change the title of the window or the clipboard. They
 * are shown as marks and never sent to a terminal. Also characters that change the direction of text, by which one text looks
 * like another. In JSON they are escaped. Keeps cli.output.safe.
 */

/** Control characters, but for tabs and the ends of lines, which only texts of several lines keep. */
const CONTROL = /[[\p{Cc}--[\t\n]]\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gv;

/** Of one line: tabs and ends of lines are marks too. */
export function safeLine(text: string): string {
  return safeText(text).replaceAll('\t', '␉').replaceAll('\n', '␤');
}

/** Of several lines. */
export function safeText(text: string): string {
  return text.replaceAll('\r\n', '\n').toWellFormed().replaceAll(CONTROL, markOf);
}

function markOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '␡';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

/** JSON in which no character reaches a terminal that could change it. */
export function safeJson(value: unknown, indent?: number): string {
  // Without an escape by `JSON.stringify` are those above the ASCII control characters.
  return JSON.stringify(value, null, indent).replaceAll(CONTROL, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

import { AUTH_LIMITS } from '../limits.ts';

/**
 * Control characters, and characters without a width or that change the direction of a text, which could hide or reorder words.
 * Joiners (U+200C, U+200D) stay: Persian words and many emoji need them.
 */
const HIDDEN = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\u115F\u1160\u3164\uFFA0]/gu;
const INVISIBLE = /^[\s\u200C\u200D]*$/u;
/** As long as an address, the longest of these texts. */
const CHARACTERS_MAX = 320;

/** The name that a client gave itself. Any program can register with any name. Keeps authentication.consent.client-name. */
export function shownAppName(name: string | null): string {
  return shownName(name, AUTH_LIMITS.clientNameMax) || 'An app without a name';
}

/** Whether a text has characters that no page shows, so that it looks like another one. */
export function hasHidden(text: string): boolean {
  return text.search(HIDDEN) !== -1 || /[\u200C\u200D\p{Default_Ignorable_Code_Point}]/u.test(text);
}

/**
 * A name that clients, workspaces or people have, as a page shows it: the page never relies on what it says. Empty when nothing of it can
 * be seen.
 */
export function shownName(name: string | null, charactersMax = CHARACTERS_MAX): string {
  const plain = (name ?? '').toWellFormed().replaceAll(/\s+/gu, ' ').replaceAll(HIDDEN, '').trim();
  const shown = [...plain].slice(0, charactersMax).join('').trim();
  return INVISIBLE.test(shown) ? '' : shown;
}

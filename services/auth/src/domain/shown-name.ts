/** Control characters, and characters without a width or that change the direction of a text, which could hide or reorder words. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\u115F\u1160\u3164\uFFA0]/gu;
const CHARACTERS_MAX = 100;

/**
 * The name that a client gave itself, as a page shows it. Any program can register with any name, so the page never relies on it.
 * Keeps authentication.consent.client-name.
 */
export function shownName(name: string | null): string {
  const plain = (name ?? '').toWellFormed().replaceAll(/\s+/gu, ' ').replaceAll(HIDDEN, '').trim();
  return [...plain].slice(0, CHARACTERS_MAX).join('') || 'An app without a name';
}

import { styled, type Look } from './look.ts';
import { safeLine, safeText } from './safe-text.ts';
import type { Detail } from './view.ts';

/** The facts of one record, then its texts. What has no value is left out for a person, and empty for a pipe. */
export function detailsText(details: readonly Detail[], look: Look, isForPerson: boolean): string {
  const facts = details.filter(({ isText }) => isText !== true);
  const texts = details.filter(
    ({ isText, value }) => isText === true && value !== null && value !== undefined && value !== '',
  );
  if (!isForPerson) {
    const lines = facts.map(({ title, value }) => `${title.toLowerCase()}\t${safeLine(String(value ?? ''))}\n`);
    return [
      ...lines,
      ...texts.map(({ title, value }) => `\n${title.toLowerCase()}:\n${safeText(String(value))}\n`),
    ].join('');
  }
  const shown = facts.flatMap((fact) => {
    const text = fact.shown ?? String(fact.value ?? '');
    return text === '' ? [] : [{ ...fact, text }];
  });
  const width = Math.max(0, ...shown.map(({ title, isHeading }) => (isHeading === true ? 0 : title.length)));
  const lines = shown.map(({ title, text, style, isHeading }) =>
    isHeading === true
      ? `${styled(safeLine(text), style ?? 'bold', look)}\n`
      : `${styled(title.padEnd(width), 'dim', look)}  ${styled(safeLine(text), style, look)}\n`,
  );
  return [
    ...lines,
    ...texts.map(({ title, value }) => `\n${styled(title, 'bold', look)}\n${safeText(String(value)).trimEnd()}\n`),
  ].join('');
}

import type { Io } from '../io.ts';

/** The pager of the person; null where they want none. */
export function pagerOf({ env }: Pick<Io, 'env'>): string | null {
  const pager = (env['WTS_PAGER'] ?? env['PAGER'] ?? 'less -FRX').trim();
  return pager === '' || pager === 'cat' ? null : pager;
}

/** Whether a text is longer than the terminal. */
export function isLong(text: string, { rows }: Pick<Io, 'rows'>): boolean {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1 && lines < rows; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines >= rows;
}

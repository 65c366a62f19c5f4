import type { Io } from '../io.ts';

const DEFAULT = 'less -FRX';
/** The exit code of a shell that does not find the program. */
export const NOT_FOUND = 127;

/** The pager of the person; null where they want none. */
export function pagerOf({ env }: Pick<Io, 'env'>): string | null {
  const pager = (env['WTS_PAGER'] ?? env['PAGER'] ?? DEFAULT).trim();
  return pager === '' || pager === 'cat' ? null : pager;
}

/** For a shell, which says nothing where a small system does not have the pager that is only a default. */
export function pagerCommand(pager: string): string {
  return pager === DEFAULT ? `command -v less >/dev/null || exit ${NOT_FOUND}; ${pager}` : pager;
}

/** Whether a text is longer than the terminal. */
export function isLong(text: string, { rows }: Pick<Io, 'rows'>): boolean {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1 && lines < rows; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines >= rows;
}

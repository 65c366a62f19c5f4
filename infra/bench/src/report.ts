import type { Ratio } from './rounds.ts';

/** One line of the table: what was measured, beside what, and what is to be reached. */
export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly against: string;
  readonly ratio: string;
  readonly goal: string;
  /** Null where the goal is no number of this run. */
  readonly isReached: boolean | null;
}

export const number = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 10 ? 1 : 2);
export const count = (value: number): string => value.toLocaleString('en-US');
export const ms = (value: number): string => `${value.toFixed(2)} ms`;
export const percent = (share: number | null): string => (share === null ? 'not told' : `${Math.round(share * 100)} %`);

/** The ratio that is shown, and between which the rounds lay. */
export function ratioText(ratio: Ratio | null): string {
  if (ratio === null) return '';
  const { middle, least, most } = ratio;
  const of = (value: number): string => value.toFixed(value < 10 ? 1 : 0);
  return of(least) === of(most) ? `${of(middle)}x` : `${of(middle)}x (${of(least)}-${of(most)})`;
}

/** Without a peer there is nothing to be judged against. */
export function reaches(ratio: Ratio | null, least: number): boolean | null {
  return ratio === null ? null : ratio.middle >= least;
}

/** Several goals of one row; one that is missed decides, whatever is not known of the others. */
export function all(...goals: readonly (boolean | null)[]): boolean | null {
  if (goals.includes(false)) return false;
  return goals.includes(null) ? null : true;
}

const HEADER = ['measure', 'ours', 'beside', 'ratio', 'goal', ''] as const;

/** Columns padded, so that it reads the same on a terminal and in a browser. */
export function table(rows: readonly Row[]): string {
  return grid(
    HEADER,
    rows.map((row) => [row.what, row.ours, row.against, row.ratio, row.goal, mark(row.isReached)]),
  );
}

export function grid(header: readonly string[], cells: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, 3, ...cells.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`;
  return [line(header), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n');
}

function mark(isReached: boolean | null): string {
  if (isReached === null) return '';
  return isReached ? '✓ met' : '✗ SHORT';
}

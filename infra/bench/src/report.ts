import type { Ratio } from './rounds.ts';

/** One line of the table: a measurement, the measurement it is compared with, and the goal. */
export interface ReportRow {
  readonly what: string;
  readonly ours: string;
  readonly against: string;
  readonly ratio: string;
  readonly goal: string;
  /** Null: there is no goal, or this run cannot decide it. */
  readonly isReached: boolean | null;
}

export const number = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value >= 10 ? 1 : 2);
export const count = (value: number): string => value.toLocaleString('en-US');
export const ms = (value: number): string => `${value.toFixed(2)} ms`;
export const percent = (share: number | null): string => (share === null ? 'unknown' : `${Math.round(share * 100)} %`);

/** The ratio of the medians, and the range of the rounds. */
export function ratioText(ratio: Ratio | null, digits = 1): string {
  if (ratio === null) return '';
  const { middle, least, most } = ratio;
  const of = (value: number): string => value.toFixed(value < 10 ? digits : 0);
  return of(least) === of(most) ? `${of(middle)}x` : `${of(middle)}x (${of(least)}-${of(most)})`;
}

/** Null without a peer. */
export function reaches(ratio: Ratio | null, least: number): boolean | null {
  return ratio === null ? null : ratio.middle >= least;
}

/** Null without a peer. */
export function isMost(ratio: Ratio | null, most: number): boolean | null {
  return ratio === null ? null : ratio.middle <= most;
}

type RatioCells = Pick<ReportRow, 'ratio' | 'goal' | 'isReached'>;

/** Null: there is no goal. */
export const atLeast = (ratio: Ratio | null, least: number | null, digits?: number): RatioCells => ({
  ratio: ratioText(ratio, digits),
  goal: least === null ? '' : `>= ${least}x`,
  isReached: least === null ? null : reaches(ratio, least),
});

export const atMost = (ratio: Ratio | null, most: number | null, digits?: number): RatioCells => ({
  ratio: ratioText(ratio, digits),
  goal: most === null ? '' : `<= ${most}x`,
  isReached: most === null ? null : isMost(ratio, most),
});

/** Combines the goals of one row: one missed goal decides, also when others are unknown. */
export function all(...goals: readonly (boolean | null)[]): boolean | null {
  if (goals.includes(false)) return false;
  return goals.includes(null) ? null : true;
}

const HEADER = ['measure', 'ours', 'compared with', 'ratio', 'goal', ''] as const;

/** Pads the columns, so that the table is readable in a terminal and as Markdown. */
export function table(rows: readonly ReportRow[]): string {
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
  return isReached ? '✓ met' : '✗ MISSED';
}

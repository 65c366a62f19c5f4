import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';

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
export const ms = (value: number): string => `${value.toFixed(2)} ms`;

export function machineLine(): string {
  const [cpu] = cpus();
  return `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, ${process.platform} ${process.arch}`;
}

export function table(rows: readonly Row[]): string {
  const header = ['measure', 'ours', 'against', 'ratio', 'goal', ''];
  const cells = rows.map((row) => [row.what, row.ours, row.against, row.ratio, row.goal, mark(row.isReached)]);
  const widths = header.map((title, column) =>
    Math.max(title.length, ...cells.map((row) => (row[column] ?? '').length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(header), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n');
}

function mark(isReached: boolean | null): string {
  if (isReached === null) return '';
  return isReached ? 'reached' : 'short';
}

/** Keeps the newest result beside the code, so that a change of the figures shows in a review. */
export async function keep(rows: readonly Row[], name: string): Promise<string> {
  return keepText(
    `${name}.md`,
    `# ${name}\n\n${new Date().toISOString().slice(0, 10)} · ${machineLine()}\n\n${table(rows)}\n`,
  );
}

export async function keepText(file: string, text: string): Promise<string> {
  const directory = join(import.meta.dirname, '..', 'results');
  await mkdir(directory, { recursive: true });
  const path = join(directory, file);
  await writeFile(path, text);
  return path;
}

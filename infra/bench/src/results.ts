import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GrowthLine } from './growth-line.ts';
import { grid, number, percent, table, type ReportRow } from './report.ts';

/** How and on which machine a benchmark ran. Each benchmark of a file may have other conditions. */
export interface Conditions {
  readonly at: string;
  readonly command: string;
  readonly machine: string;
  readonly versions: string;
  /** Null outside a clone. */
  readonly commit: string | null;
  readonly rounds: number;
  readonly seconds: number;
  readonly tookSeconds: number;
  /** The CPU share of other programs; null without `/proc`. */
  readonly othersShare: number | null;
}

export interface KeptResult extends Conditions {
  readonly rows: readonly ReportRow[];
  readonly lines?: readonly GrowthLine[];
  readonly raw: unknown;
}

/** The newest result of each benchmark, in the order of the table. */
export interface Results {
  readonly benchmarks: { readonly [name: string]: KeptResult };
}

/** Above this CPU share of other programs single figures are not reliable. */
export const QUIET_SHARE_MAX = 0.05;

const FOLDER = join(import.meta.dirname, '..', 'results');
const NAME = 'sync';

/** Replaces the results of the measured benchmarks and keeps the others, so that benchmarks can run one by one. */
function merge(kept: Results, measured: Results['benchmarks'], order: readonly string[]): Results {
  const all = { ...kept.benchmarks, ...measured };
  // Results of removed benchmarks are dropped.
  return { benchmarks: Object.fromEntries(order.flatMap((name) => (all[name] ? [[name, all[name]]] : []))) };
}

/** Writes the results as two files, so that a review shows changed figures. Resolves to the path of the Markdown file. */
export async function keep(measured: Results['benchmarks'], order: readonly string[]): Promise<string> {
  await mkdir(FOLDER, { recursive: true });
  const results = merge(await read(), measured, order);
  await replace(join(FOLDER, `${NAME}.json`), `${JSON.stringify(results, null, 2)}\n`);
  const page = join(FOLDER, `${NAME}.md`);
  await replace(page, markdown(results));
  return page;
}

async function read(): Promise<Results> {
  const text = await readFile(join(FOLDER, `${NAME}.json`), 'utf8').catch(() => null);
  return text === null ? { benchmarks: {} } : (JSON.parse(text) as Results);
}

/** A rename, so that the file is complete when the run is stopped. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

function linesOf({ benchmarks }: Results): GrowthLine[] {
  return Object.values(benchmarks).flatMap(({ lines }) => lines ?? []);
}

function markdown(results: Results): string {
  const benchmarks = Object.entries(results.benchmarks);
  const rows = benchmarks.flatMap(([, one]) => one.rows);
  const withGoal = rows.filter(({ isReached }) => isReached !== null);
  const met = withGoal.filter(({ isReached }) => isReached === true).length;
  const lines = linesOf(results);
  return [
    '# Sync, measured\n',
    'Written by `npm run bench`. [README](../README.md) describes the measurements, [peers](../peers/README.md) the setup of',
    'the peer; [sync.json](sync.json) has the numbers of every round.\n',
    `**${met} of ${withGoal.length} goals met.**\n`,
    table(rows),
    '',
    ...(lines.length === 0 ? [] : ['## How cost grows\n', growth(lines), '']),
    '## Conditions\n',
    conditions(benchmarks),
    '',
  ].join('\n');
}

/** One table for each axis. */
function growth(lines: readonly GrowthLine[]): string {
  return [...Map.groupBy(lines, ({ axis }) => axis)]
    .map(([axis, same]) => {
      const sizes = [...new Set(same.flatMap(({ points }) => points.map(({ size }) => size)))].toSorted(
        (a, b) => a - b,
      );
      const header = [`over ${axis}`, '', ...sizes.map((size) => size.toLocaleString('en-US'))];
      const cells = same.map(({ name, who, unit, points }) => {
        const costs = sizes.map((size) => points.find((point) => point.size === size)?.cost);
        return [`${name}, ${unit}`, who, ...costs.map((cost) => (cost === undefined ? '' : number(cost)))];
      });
      return grid(header, cells);
    })
    .join('\n\n');
}

/** Machines and versions once, the rest for each benchmark. */
function conditions(benchmarks: readonly (readonly [string, KeptResult])[]): string {
  const machines = new Set(benchmarks.map(([, { machine }]) => machine));
  const versions = new Set(benchmarks.map(([, one]) => one.versions));
  const noisy = benchmarks.filter(([, { othersShare }]) => (othersShare ?? 0) > QUIET_SHARE_MAX).map(([name]) => name);
  const header = ['benchmark', 'measured', 'commit', 'rounds', 'took', 'CPU of others', 'command'];
  const cells = benchmarks.map(([name, one]) => [
    name,
    one.at.slice(0, 16).replace('T', ' '),
    one.commit ?? '',
    `${one.rounds} of ${one.seconds} s`,
    `${Math.round(one.tookSeconds)} s`,
    percent(one.othersShare),
    `\`${one.command}\``,
  ]);
  return [
    ...[...machines].map((machine) => `- Machine: ${machine}`),
    ...[...versions].map((version) => `- Versions: ${version}`),
    ...(noisy.length === 0
      ? []
      : [
          `- **Not quiet**: other programs used more than ${percent(QUIET_SHARE_MAX)} of the CPU during ${noisy.join(', ')}.`,
        ]),
    '',
    grid(header, cells),
  ].join('\n');
}

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plot, type Line } from './plot.ts';
import { grid, number, percent, table, type Row } from './report.ts';

/** How and on what something was measured. Parts that are measured later may differ in it. */
export interface Circumstances {
  readonly at: string;
  readonly command: string;
  readonly machine: string;
  readonly versions: string;
  /** Null outside of a clone. */
  readonly commit: string | null;
  readonly rounds: number;
  readonly seconds: number;
  readonly tookSeconds: number;
  /** Of the processor time of the machine; null where the system does not tell. */
  readonly othersShare: number | null;
}

export interface PartResult extends Circumstances {
  readonly rows: readonly Row[];
  readonly lines?: readonly Line[];
  readonly raw: unknown;
}

/** The newest result of each part, in the order of the table. */
export interface Results {
  readonly parts: { readonly [part: string]: PartResult };
}

/** Above this share others had a say in the figures. */
export const QUIET_SHARE_MAX = 0.05;

const FOLDER = join(import.meta.dirname, '..', 'results');
const NAME = 'sync';

/** What is measured now takes the place of what was; everything else stays, so that a run may be made in parts. */
export function merge(known: Results, measured: Results['parts'], order: readonly string[]): Results {
  const all = { ...known.parts, ...measured };
  const names = Object.keys(all).toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
  // A part that is measured no more has no place in the table.
  return {
    parts: Object.fromEntries(names.filter((name) => order.includes(name)).map((name) => [name, all[name]])),
  } as Results;
}

/** Writes three files beside the code, so that a change of the figures shows in a review. Returns the one to read. */
export async function keep(measured: Results['parts'], order: readonly string[], folder = FOLDER): Promise<string> {
  await mkdir(folder, { recursive: true });
  const results = merge(await read(folder), measured, order);
  const lines = linesOf(results);
  await replace(join(folder, `${NAME}.json`), `${JSON.stringify(results, null, 2)}\n`);
  if (lines.length > 0) await replace(join(folder, 'growth.svg'), picture(results, lines));
  const page = join(folder, `${NAME}.md`);
  await replace(page, markdown(results));
  return page;
}

async function read(folder: string): Promise<Results> {
  const text = await readFile(join(folder, `${NAME}.json`), 'utf8').catch(() => null);
  return text === null ? { parts: {} } : (JSON.parse(text) as Results);
}

/** A run may be stopped at any time; what is there is then whole. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

function linesOf({ parts }: Results): Line[] {
  return Object.values(parts).flatMap(({ lines }) => lines ?? []);
}

function picture({ parts }: Results, lines: readonly Line[]): string {
  const from = Object.values(parts).find((part) => part.lines !== undefined);
  return plot(
    lines,
    'How cost grows',
    from === undefined ? '' : `${from.machine} · ${from.at.slice(0, 10)} · both scales by powers of ten`,
  );
}

export function markdown(results: Results): string {
  const parts = Object.entries(results.parts);
  const rows = parts.flatMap(([, part]) => part.rows);
  const judged = rows.filter(({ isReached }) => isReached !== null);
  const met = judged.filter(({ isReached }) => isReached === true).length;
  const lines = linesOf(results);
  return [
    '# Sync, measured\n',
    'Made by `npm run bench`; what is measured and how is in [the README](../README.md), how the peer is set up in',
    '[its own](../peers/README.md). Every round as a number: [sync.json](sync.json).\n',
    `**${met} of ${judged.length} goals met.**\n`,
    table(rows),
    '',
    ...(lines.length === 0
      ? []
      : ['## How cost grows\n', '![Cost over tasks, sockets and groups](growth.svg)\n', growth(lines), '']),
    '## Circumstances\n',
    circumstances(parts),
    '',
  ].join('\n');
}

/** A table for each thing that grows. */
function growth(lines: readonly Line[]): string {
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

/** What is the same for all parts once; the rest part by part. */
function circumstances(parts: readonly (readonly [string, PartResult])[]): string {
  const machines = new Set(parts.map(([, { machine }]) => machine));
  const versions = new Set(parts.map(([, one]) => one.versions));
  const noisy = parts.filter(([, { othersShare }]) => (othersShare ?? 0) > QUIET_SHARE_MAX).map(([name]) => name);
  const header = ['part', 'measured', 'commit', 'rounds', 'took', 'CPU of others', 'command'];
  const cells = parts.map(([name, part]) => [
    name,
    part.at.slice(0, 16).replace('T', ' '),
    part.commit ?? '',
    `${part.rounds} of ${part.seconds} s`,
    `${Math.round(part.tookSeconds)} s`,
    percent(part.othersShare),
    `\`${part.command}\``,
  ]);
  return [
    ...[...machines].map((machine) => `- Machine: ${machine}`),
    ...[...versions].map((version) => `- Versions: ${version}`),
    ...(noisy.length === 0
      ? []
      : [
          `- **Not quiet**: others took more than ${percent(QUIET_SHARE_MAX)} of the machine during ${noisy.join(', ')}.`,
        ]),
    '',
    grid(header, cells),
  ].join('\n');
}

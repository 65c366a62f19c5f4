import { testAuthority } from '@wts/testkit';
import type { BenchmarkName } from '../benchmarks.ts';
import { machineLine } from '../machine.ts';
import { number, ratioText, reaches, table, type ReportRow } from '../report.ts';
import { alternate, median, ratioOf } from '../rounds.ts';
import type { Sizes } from '../sizes.ts';
import { checkOut, commitOf } from './checkout.ts';
import { COMPARISONS, NOT_COMPARED, type Figure } from './comparisons.ts';
import { startVersion, type Version } from './version.ts';

const REASON_CHARACTERS = 120;

export interface CompareOptions {
  readonly names: readonly BenchmarkName[];
  readonly rounds: number;
  readonly seconds: number;
  readonly sizes: Sizes;
  readonly print: (text: string) => void;
}

/** Starts the working copy and another commit, and compares them by turns. Resolves to the exit code. */
export async function compareWith(
  stack: AsyncDisposableStack,
  wanted: string,
  options: CompareOptions,
): Promise<number> {
  const { print } = options;
  const commit = await commitOf(wanted);
  const name = commit.slice(0, 7);
  print(`${machineLine()}; the working copy against ${name}`);
  const folders = await checkOut(stack, commit);
  const { caFile } = await testAuthority();
  const versions: Version[] = [];
  for (const [who, folder] of [
    ['ours', folders.ours],
    [name, folders.theirs],
  ] as const) {
    if (stack.disposed) return 1;
    print(`installing and starting ${who}`);
    versions.push(await startVersion(stack, { name: who, folder, caFile }));
  }
  const [ours, theirs] = versions as [Version, Version];
  const { rows, left, failed } = await compareVersions(ours, theirs, options);
  console.log(`\n${table(rows)}\n`);
  for (const line of left) console.log(line);
  return failed ? 1 : 0;
}

export interface Compared {
  readonly rows: readonly ReportRow[];
  /** What was not compared, and why. */
  readonly left: readonly string[];
  readonly failed: boolean;
}

export async function compareVersions(ours: Version, theirs: Version, options: CompareOptions): Promise<Compared> {
  const { names, rounds, seconds, sizes, print } = options;
  const rows: ReportRow[] = [];
  const left = names.flatMap((name) =>
    NOT_COMPARED[name] === undefined ? [] : [`${name} is not compared: ${NOT_COMPARED[name]}.`],
  );
  let failed = false;
  for (const { of, what, open } of COMPARISONS.filter((one) => names.includes(one.of))) {
    const measures: ((seconds: number) => Promise<readonly Figure[]>)[] = [];
    for (const version of [ours, theirs]) {
      try {
        const measure = await open(version, sizes);
        await measure(sizes.warmUpSeconds);
        measures.push(measure);
      } catch (error) {
        failed ||= version === ours;
        left.push(
          `${version.name} cannot serve ${of}, ${what}: ${(error as Error).message.slice(0, REASON_CHARACTERS)}`,
        );
      }
    }
    const [measureOurs, measureTheirs] = measures;
    if (measureOurs === undefined || measureTheirs === undefined) continue;
    const measured = await alternate<'ours' | 'theirs', readonly Figure[]>(rounds, {
      ours: () => measureOurs(seconds),
      theirs: () => measureTheirs(seconds),
    });
    const compared = rowsOf(measured.ours, measured.theirs, theirs.name);
    for (const { what: row, ours: text, against, ratio } of compared) print(`${row}: ${text}; ${against}; ${ratio}`);
    rows.push(...compared);
  }
  return { rows, left, failed };
}

function rowsOf(
  ours: readonly (readonly Figure[])[],
  theirs: readonly (readonly Figure[])[],
  name: string,
): ReportRow[] {
  const [first = []] = ours;
  return first.map(({ what, unit, ratioMin }, nth) => {
    const values = (rounds: readonly (readonly Figure[])[]): number[] =>
      rounds.map((figures) => figures[nth]?.value ?? Number.NaN);
    const middle = (numbers: readonly number[]): string => `${number(median(numbers, (one) => one))}${unit}`;
    const ratio = ratioOf(values(ours), values(theirs));
    return {
      what,
      ours: middle(values(ours)),
      against: `${name} ${middle(values(theirs))}`,
      ratio: `${ratioText(ratio, 2)}, ${unit === '/s' ? 'more' : 'less'} is better`,
      goal: ratioMin === undefined ? '' : `>= ${ratioMin.toFixed(2)}x`,
      isReached: ratioMin === undefined ? null : reaches(ratio, ratioMin),
    };
  });
}

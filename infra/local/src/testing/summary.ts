/** What a test run prints at its end. */
import type { SuiteResult } from './suites.ts';

/** The results of all suites of one run. */
type Run = readonly SuiteResult[];

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function countsOf(runs: readonly Run[]): Counts {
  const all = runs.flat();
  const sum = (count: (result: SuiteResult) => number): number => all.reduce((total, one) => total + count(one), 0);
  return {
    passed: sum(({ passed }) => passed),
    failed: sum(({ failures }) => failures.length),
    skipped: sum(({ skipped }) => skipped.length),
  };
}

/** What failed and what was skipped, by name; of several runs also in how many, and how many were green. */
export function summaryOf(runs: readonly Run[]): string[] {
  const failed = namesIn(runs, ({ failures }) => failures.map(({ title }) => title));
  const skipped = namesIn(runs, (result) => result.skipped);
  const ofRuns = (count: number): string => (runs.length === 1 ? '' : ` (in ${count} of ${runs.length} runs)`);
  const lines = (names: ReadonlyMap<string, number>, mark: string): string[] =>
    [...names].map(([name, count]) => `  ${mark} ${name}${ofRuns(count)}`);
  const green = runs.filter((run) => countsOf([run]).failed === 0).length;
  return [
    ...(failed.size === 0 ? [] : ['\nFailed', ...lines(failed, '✗')]),
    ...(skipped.size === 0
      ? []
      : [`\n${skipped.size} skipped, because this machine lacks what they need`, ...lines(skipped, '-')]),
    ...(runs.length === 1 ? [] : [`\n${green} of ${runs.length} runs were green`]),
  ];
}

export function closingLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`;
}

/** In how many runs each name occurs. */
function namesIn(runs: readonly Run[], titlesOf: (result: SuiteResult) => readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const run of runs) {
    const names = run.flatMap((result) => titlesOf(result).map((title) => `${result.folder}: ${title}`));
    for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

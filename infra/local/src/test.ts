/** `npm test`: runs the static checks and then every suite, with servers of their own, so that it can run next to `npm start`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { readOptions } from './command-options.ts';
import { LOCAL } from './layout.ts';
import { removeAtExit } from './processes/guard.ts';
import { identityOf } from './processes/identity.ts';
import type { RunningProcess } from './processes/launch.ts';
import { runTask } from './task.ts';
import { STATIC_CHECKS, runChecks } from './testing/checks.ts';
import type { SuiteFolder, SuiteResult } from './testing/suites.ts';
import { SuiteRun, chooseSuites, findSuites, newProcessorSeconds } from './testing/suites.ts';

const USAGE = `npm test [-- options]

  --only FOLDER    run only this suite, for example packages/access, without static checks; may be repeated
  --grep TEXT      run only tests whose title matches
  --help           print this text

The last line is "N passed, N failed"; each static check counts as one. Tests that need something this machine lacks are
listed before as skipped.
TEST_DATABASE_URL: the URL of a superuser of your own PostgreSQL server, which is then used instead of new ones.`;

const LOGS = join(LOCAL, 'test-logs');
const PROGRESS_EVERY_MS = 15_000;
const END_TO_END: SuiteFolder = 'test-e2e';
/** Processes with test files at the same time: two more than processors, because tests often wait. */
const WORKERS_MAX = Math.min(6, availableParallelism() + 2);
/** Each starts whole systems. The other workers need about as long for the short suites, so both end at the same time. */
const END_TO_END_WORKERS_MAX = Math.min(4, availableParallelism() + 1);
/** A second worker loads the modules of the suite again and starts a PostgreSQL server, which takes about two seconds. */
const JOINED_FILES_MIN = 4;
/** Tests of the same suite may disturb each other on one server, for example by counting all locks. */
const IS_SERVER_SHARED = Boolean(process.env['TEST_DATABASE_URL']);

await runTask(async (stack) => {
  const options = readOptions(USAGE, { only: { type: 'string', multiple: true }, grep: { type: 'string' } });
  if (options === null) return 0;
  const since = Date.now();
  const { only, grep } = options;
  const suites = chooseSuites(findSuites(), only);
  const checks = only === undefined ? STATIC_CHECKS : [];
  let passed = 0;
  let failed = 0;
  const skipped: string[] = [];
  if (checks.length > 0) {
    console.log('Static checks');
    passed = await runChecks(checks, console.log);
    failed = checks.length - passed;
  }
  console.log('\nSuites');
  // Without those of the checks.
  newProcessorSeconds();
  const env = { ...process.env, CI: 'true', TEST_SCRATCH: openScratch() };
  const results = await runSuites(stack, suites, env, grep);
  for (const result of results) {
    passed += result.passed;
    failed += result.failures.length;
    skipped.push(...result.skipped.map((title) => `${result.folder}: ${title}`));
  }
  const broken = results.filter((result) => result.failures.length > 0);
  if (broken.length > 0) console.log('\nFailed');
  for (const { folder, failures } of broken) for (const { title } of failures) console.log(`  ✗ ${folder}: ${title}`);
  if (skipped.length > 0) console.log(`\n${skipped.length} skipped, because this machine lacks what they need`);
  for (const title of skipped) console.log(`  - ${title}`);
  console.log(
    `\nin ${((Date.now() - since) / 1000).toFixed(0)} s${failed === 0 ? '' : `; the output of each suite is in ${LOGS}`}`,
  );
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
});

/** The directory for the data of all workers, which is removed when this process ends. */
function openScratch(): string {
  const directory = join(LOCAL, `test-run-${process.pid}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, 'owner.json'), JSON.stringify(identityOf(process.pid)));
  removeAtExit(directory);
  return directory;
}

/** Runs the suites at the same time, as far as `nextOf` allows. */
async function runSuites(
  stack: AsyncDisposableStack,
  suites: readonly SuiteFolder[],
  env: NodeJS.ProcessEnv,
  grep: string | undefined,
): Promise<SuiteResult[]> {
  const onLaunch = (worker: RunningProcess) => stack.defer(async () => void (await worker.stop('SIGTERM', 3_000)));
  const results: SuiteResult[] = [];
  const waiting = new Set(suites);
  const open = new Map<SuiteFolder, SuiteRun>();
  const progress = setInterval(() => {
    for (const { folder, passed } of open.values()) console.log(`    … ${folder}: ${passed} passed so far`);
  }, PROGRESS_EVERY_MS);
  stack.defer(() => clearInterval(progress));
  const working = new Set<Promise<void>>();
  const work = async (folder: SuiteFolder): Promise<void> => {
    waiting.delete(folder);
    const run = open.getOrInsertComputed(
      folder,
      () => new SuiteRun({ folder, env, grep, onLaunch, newLog: (worker) => newLog(folder, worker) }),
    );
    // A worker that crashed leaves files.
    do await run.work();
    while (run.filesLeft > 0);
    if (run.workers > 0) return;
    open.delete(folder);
    results.push(run.result());
    report(run.result());
  };
  for (;;) {
    const next = working.size < WORKERS_MAX ? nextOf([...waiting], [...open.values()]) : undefined;
    if (next !== undefined) {
      const done: Promise<void> = work(next).finally(() => working.delete(done));
      working.add(done);
    } else if (working.size === 0) break;
    else await Promise.race(working);
  }
  clearInterval(progress);
  return results;
}

/**
 * The suite for a free worker. The suites of services come first, because they are long, then the end-to-end suite beside
 * their last files, but not at the same time, because their load disturbs its fault tests; the short suites fill the gaps.
 */
function nextOf(waiting: readonly SuiteFolder[], open: readonly SuiteRun[]): SuiteFolder | undefined {
  const toJoin = (isWanted: (folder: SuiteFolder) => boolean, filesMin: number): SuiteFolder | undefined =>
    IS_SERVER_SHARED
      ? undefined
      : open
          .filter(({ folder, filesLeft }) => isWanted(folder) && filesLeft >= filesMin)
          .toSorted((one, other) => one.workers - other.workers || other.filesLeft - one.filesLeft)[0]?.folder;
  const service = waiting.find(isService) ?? toJoin(isService, JOINED_FILES_MIN);
  if (service !== undefined) return service;
  const systems = open.find(({ folder }) => folder === END_TO_END)?.workers ?? 0;
  const hasServiceFiles = open.some(({ folder, filesLeft }) => isService(folder) && filesLeft > 0);
  if (!hasServiceFiles && systems < END_TO_END_WORKERS_MAX) {
    if (waiting.includes(END_TO_END)) return END_TO_END;
    if (toJoin((folder) => folder === END_TO_END, 1) !== undefined) return END_TO_END;
  }
  return waiting.find((folder) => !isService(folder) && folder !== END_TO_END);
}

function isService(folder: SuiteFolder): boolean {
  return folder.startsWith('services/');
}

function report({ folder, passed, skipped, failures, seconds, processorSeconds }: SuiteResult): void {
  const counts = [
    `${passed} passed`,
    ...(failures.length === 0 ? [] : [`${failures.length} failed`]),
    ...(skipped.length === 0 ? [] : [`${skipped.length} skipped`]),
  ];
  const cost = processorSeconds === null ? '' : `${processorSeconds.toFixed(1).padStart(7)} s of processors`;
  console.log(
    `  ${failures.length === 0 ? '✓' : '✗'} ${folder.padEnd(26)} ${seconds.toFixed(1).padStart(6)} s ${cost}   ${counts.join(', ')}`,
  );
  for (const { title, text } of failures) console.log(`\n      ✗ ${title}\n${text.replace(/^/gm, '        ')}\n`);
}

function newLog(folder: SuiteFolder, worker: number): string {
  mkdirSync(LOGS, { recursive: true });
  const log = join(LOGS, `${folder.replaceAll('/', '-')}-${worker}.log`);
  rmSync(log, { force: true });
  return log;
}

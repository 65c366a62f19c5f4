/** `npm test`: runs the static checks beside every suite, with servers of their own, so that it can run next to `npm start`. */
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { readOptions } from './command-options.ts';
import { LOCAL } from './layout.ts';
import { launch, type RunningProcess } from './processes/launch.ts';
import { runTask } from './task.ts';
import { ON_ONE_PROCESSOR, STATIC_CHECKS, runChecks } from './testing/checks.ts';
import { processorSeconds, processorText } from './testing/processors.ts';
import type { SuiteFolder, SuiteResult } from './testing/suites.ts';
import { JOINED_FILES_MIN, SuiteRun, chooseSuites, findSuites } from './testing/suites.ts';
import { closingLine, countsOf, summaryOf } from './testing/summary.ts';
import { openTestFolder } from './testing/test-folder.ts';
import { UserError } from './user-error.ts';

const USAGE = `npm test [-- options]

  --only FOLDER    run only this suite, for example packages/access, without static checks; may be repeated
  --grep TEXT      run only tests whose title matches
  --repeat N       run the suites N times, without static checks, and print how many of the runs were green
  --load N         run N processes beside that do nothing but use a processor
  --help           print this text

The last line is "N passed, N failed"; each static check counts as one. Tests that need something this machine lacks are
listed before as skipped, and the last line then ends with ", N skipped".
TEST_DATABASE_URL: the URL of a superuser of your own PostgreSQL server, which is then used instead of new ones.
TEST_CHROMIUM: the path of an installed Chromium, which is then used instead of the pinned one.`;

const LOGS = join(LOCAL, 'test-logs');
const PROGRESS_EVERY_MS = 15_000;
const END_TO_END: SuiteFolder = 'test-e2e';
/** Processes with test files at the same time: three more than processors, because a worker waits for more than half of its time. */
const WORKERS_MAX = Math.min(6, availableParallelism() + 3);
/** Each starts whole systems. The other workers need about as long for the short suites, so both end at the same time. */
const END_TO_END_WORKERS_MAX = Math.min(4, availableParallelism() + 1);
/** A further worker of a service takes two seconds of a processor before its first test, so the last files are left to those it has. */
const SERVICE_FILES_MIN = 12;
/** Tests of the same suite may disturb each other on one server, for example by counting all locks. */
const IS_SERVER_SHARED = Boolean(process.env['TEST_DATABASE_URL']);

await runTask(async (stack) => {
  const options = readOptions(USAGE, {
    only: { type: 'string', multiple: true },
    grep: { type: 'string' },
    repeat: { type: 'string', default: '1' },
    load: { type: 'string', default: '0' },
  });
  if (options === null) return 0;
  const since = Date.now();
  const { only, grep } = options;
  const [repeat, load] = [countOf('--repeat', options.repeat, 1), countOf('--load', options.load, 0)];
  const suites = chooseSuites(findSuites(), only);
  const checks = only === undefined && repeat === 1 ? STATIC_CHECKS : [];
  // Each takes only a part of the processors for a part of its time, and suites often wait.
  const checking = runChecks(checks, console.log, ON_ONE_PROCESSOR);
  const env = { ...process.env, CI: 'true', TEST_SCRATCH: openTestFolder() };
  await startLoad(stack, load);
  const runs: SuiteResult[][] = [];
  while (runs.length < repeat) {
    const run = runs.length + 1;
    if (repeat > 1) console.log(`\nRun ${run} of ${repeat}`);
    const logOf = (folder: SuiteFolder, worker: number) => newLog(repeat === 1 ? '' : `run-${run}-`, folder, worker);
    runs.push(await runSuites(stack, suites, { env, grep, logOf }));
  }
  const passedChecks = await checking;
  for (const line of summaryOf(runs)) console.log(line);
  const { passed, failed, skipped } = countsOf(runs);
  if (passed + failed + skipped === 0) throw new UserError(`--grep ${grep} matches no test of these suites.`);
  const all = { passed: passed + passedChecks, failed: failed + checks.length - passedChecks, skipped };
  const seconds = ((Date.now() - since) / 1000).toFixed(0);
  const used = processorText(processorSeconds()).trim();
  const cost = `in ${seconds} s${used === '' ? '' : `, with ${used}`}`;
  console.log(`\n${cost}${all.failed === 0 ? '' : `; the output of each suite is in ${LOGS}`}`);
  console.log(closingLine(all));
  return all.failed === 0 ? 0 : 1;
});

function countOf(option: string, text: string, min: number): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < min)
    throw new UserError(`${option} ${text} is not a number of at least ${min}. Example: npm test -- ${option} 8`);
  return count;
}

/** Processes that use all the processor time they get, as a busy machine has. */
async function startLoad(stack: AsyncDisposableStack, count: number): Promise<void> {
  for (let started = 0; started < count; started += 1) {
    const loop = await launch({
      name: 'load',
      command: process.execPath,
      args: ['-e', 'for (;;);'],
      env: {},
      log: join(LOGS, 'load.log'),
      background: true,
    });
    stack.defer(async () => void (await loop.stop('SIGKILL', 0)));
  }
}

interface RunOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly grep: string | undefined;
  readonly logOf: (folder: SuiteFolder, worker: number) => string;
}

/** Runs the suites at the same time, as far as `nextOf` allows. */
async function runSuites(
  stack: AsyncDisposableStack,
  suites: readonly SuiteFolder[],
  { env, grep, logOf }: RunOptions,
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
      () => new SuiteRun({ folder, env, grep, onLaunch, newLog: (worker) => logOf(folder, worker) }),
    );
    // Workers that crashed leave files.
    do await run.work();
    while (run.filesLeft > 0 && run.workers === 0);
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
  const service = waiting.find(isService) ?? toJoin(isService, SERVICE_FILES_MIN);
  if (service !== undefined) return service;
  const systems = open.find(({ folder }) => folder === END_TO_END)?.workers ?? 0;
  const hasServiceFiles = open.some(({ folder, filesLeft }) => isService(folder) && filesLeft > 0);
  if (!hasServiceFiles && systems < END_TO_END_WORKERS_MAX) {
    if (waiting.includes(END_TO_END)) return END_TO_END;
    if (toJoin((folder) => folder === END_TO_END, JOINED_FILES_MIN) !== undefined) return END_TO_END;
  }
  return waiting.find((folder) => !isService(folder) && folder !== END_TO_END);
}

function isService(folder: SuiteFolder): boolean {
  return folder.startsWith('services/');
}

function report({ folder, passed, skipped, failures, seconds, processorSeconds: used }: SuiteResult): void {
  const counts = [
    `${passed} passed`,
    ...(failures.length === 0 ? [] : [`${failures.length} failed`]),
    ...(skipped.length === 0 ? [] : [`${skipped.length} skipped`]),
  ];
  const cost = processorText(used);
  console.log(
    `  ${failures.length === 0 ? '✓' : '✗'} ${folder.padEnd(26)} ${seconds.toFixed(1).padStart(6)} s ${cost}   ${counts.join(', ')}`,
  );
  for (const { title, text } of failures) console.log(`\n      ✗ ${title}\n${text.replace(/^/gm, '        ')}\n`);
}

function newLog(prefix: string, folder: SuiteFolder, worker: number): string {
  mkdirSync(LOGS, { recursive: true });
  const log = join(LOGS, `${prefix}${folder.replaceAll('/', '-')}-${worker}.log`);
  rmSync(log, { force: true });
  return log;
}

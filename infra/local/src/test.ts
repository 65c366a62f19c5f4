/** `npm test`: runs the static checks and then every suite, with separate servers, so that it can run next to `npm start`. */
import { mkdirSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOCAL } from './layout.ts';
import { removeAtExit } from './processes/guard.ts';
import { makeSecrets } from './secrets.ts';
import { SHARED_BY_TESTS, openPostgres } from './servers/postgres.ts';
import { runTask } from './task.ts';
import { STATIC_CHECKS, runChecks } from './testing/checks.ts';
import type { SuiteFolder, SuiteResult } from './testing/suites.ts';
import { chooseSuites, findSuites, runSuite } from './testing/suites.ts';

const USAGE = `npm test [-- options]

  --only FOLDER    run only this suite, for example packages/access, without static checks; may be repeated
  --grep TEXT      run only tests whose title matches
  --help           print this text

The last line is "N passed, N failed"; each static check counts as one. Tests that need something this machine lacks are
listed before as skipped.
TEST_DATABASE_URL: the URL of a superuser of your own PostgreSQL server, which is then used instead of a new one.`;

const LOGS = join(LOCAL, 'test-logs');
const PROGRESS_EVERY_MS = 15_000;
/** Suites that run while no long suite does. */
const LAST: readonly SuiteFolder[] = ['test-e2e'];

await runTask(async (stack) => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      grep: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const since = Date.now();
  const { only } = values;
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
  const env = await openServer(stack);
  const results = await runSuites(stack, suites, env, values.grep);
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

/** Starts the PostgreSQL server for the suites, which ends with this process. Resolves to their environment. */
async function openServer(stack: AsyncDisposableStack): Promise<NodeJS.ProcessEnv> {
  const directory = join(LOCAL, `test-run-${process.pid}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  removeAtExit(directory);
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const env = { ...process.env, CI: 'true' };
  if (process.env['TEST_DATABASE_URL']) return env;
  const server = await openPostgres({
    directory: join(directory, 'postgres'),
    log: join(directory, 'postgres.log'),
    records: join(directory, 'run'),
    env: process.env,
    throwaway: true,
    settings: SHARED_BY_TESTS,
    password: makeSecrets().postgresPassword,
    resetHint: 'Remove the directory .local',
  });
  return { ...env, TEST_DATABASE_URL: stack.use(server).url(), TEST_DATABASE_ENDS: 'true' };
}

/** Runs the suites of services, one per processor, and then the end-to-end suite beside the short ones. */
async function runSuites(
  stack: AsyncDisposableStack,
  suites: readonly SuiteFolder[],
  env: NodeJS.ProcessEnv,
  grep: string | undefined,
): Promise<SuiteResult[]> {
  const results: SuiteResult[] = [];
  const running = new Map<SuiteFolder, number>();
  const progress = setInterval(() => {
    for (const [folder, passed] of running) console.log(`    … ${folder}: ${passed} passed so far`);
  }, PROGRESS_EVERY_MS);
  stack.defer(() => clearInterval(progress));
  const run = async (folder: SuiteFolder) => {
    running.set(folder, 0);
    const result = await runSuite({
      folder,
      log: newLog(folder),
      env,
      grep,
      onTest: (passed) => running.set(folder, passed),
      onLaunch: (suite) => stack.defer(async () => void (await suite.stop('SIGTERM', 3_000))),
    });
    running.delete(folder);
    results.push(result);
    report(result);
  };
  const runAll = async (folders: readonly SuiteFolder[], atOnce: number): Promise<void> => {
    const queue = [...folders];
    const worker = async () => {
      for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) await run(folder);
    };
    await Promise.all(Array.from({ length: Math.max(1, atOnce) }, worker));
  };
  const processors = Math.min(4, availableParallelism());
  const isLong = (folder: SuiteFolder): boolean => folder.startsWith('services/');
  const isLast = (folder: SuiteFolder): boolean => LAST.includes(folder);
  await runAll(suites.filter(isLong), processors);
  const short = suites.filter((folder) => !isLong(folder) && !isLast(folder));
  await Promise.all([runAll(suites.filter(isLast), 1), runAll(short, processors - 1)]);
  clearInterval(progress);
  return results;
}

function report({ folder, passed, skipped, failures, seconds }: SuiteResult): void {
  const failed = failures.length === 0 ? '' : `, ${failures.length} failed`;
  console.log(
    `  ${failures.length === 0 ? '✓' : '✗'} ${folder.padEnd(26)} ${seconds.toFixed(1).padStart(6)} s   ${passed} passed${failed}${skipped.length === 0 ? '' : `, ${skipped.length} skipped`}`,
  );
  for (const { title, text } of failures) console.log(`\n      ✗ ${title}\n${text.replace(/^/gm, '        ')}\n`);
}

function newLog(folder: SuiteFolder): string {
  mkdirSync(LOGS, { recursive: true });
  const log = join(LOGS, `${folder.replaceAll('/', '-')}.log`);
  rmSync(log, { force: true });
  return log;
}

/** Finds the test suites of the repository and runs each one as a process. */
import { readFileSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from '../layout.ts';
import { launch } from '../processes/launch.ts';
import type { RunningProcess } from '../processes/launch.ts';
import { lastLines } from '../processes/logs.ts';
import { exitText } from '../processes/supervised.ts';
import { UserError } from '../user-error.ts';
import type { TestMessage } from './reporter.ts';

/** A package with tests, by its folder: `packages/access`. */
export type SuiteFolder = string;

export interface Failure {
  readonly title: string;
  readonly text: string;
}

export interface SuiteResult {
  readonly folder: SuiteFolder;
  readonly passed: number;
  readonly skipped: readonly string[];
  readonly failures: readonly Failure[];
  readonly seconds: number;
}

export interface SuiteRun {
  readonly folder: SuiteFolder;
  readonly log: string;
  readonly env: NodeJS.ProcessEnv;
  readonly grep: string | undefined;
  readonly onTest: (passed: number, title: string) => void;
  readonly onLaunch: (process: RunningProcess) => void;
}

/** Each test has its own timeout; a suite without a message for this long hangs between tests. */
const SILENT_MS_MAX = 240_000;
/** The time in which a suite must exit after its last test. */
const EXIT_MS_MAX = 15_000;

export function findSuites(): SuiteFolder[] {
  // Services have the longest suites and start first, so that the run does not wait for one of them at the end.
  const folders = ['services', 'packages', 'infra'].flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`),
  );
  // The end-to-end suite runs last, because the load of long suites disturbs its fault tests.
  return [...folders, 'test-e2e'].filter((folder) => {
    try {
      const manifest = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
        scripts?: { test?: string };
      };
      return manifest.scripts?.test !== undefined;
    } catch {
      return false;
    }
  });
}

/** All suites, or the named ones. A name without a suite is an error. */
export function chooseSuites(all: readonly SuiteFolder[], only: readonly string[] | undefined): readonly SuiteFolder[] {
  if (only === undefined) return all;
  const matches = only.map((wanted) => all.filter((folder) => folder.startsWith(wanted.replace(/\/$/, ''))));
  const unknown = only.find((_, index) => matches[index]?.length === 0);
  if (unknown !== undefined) throw new UserError(`--only ${unknown} matches no suite. Choose from ${all.join(', ')}.`);
  return all.filter((folder) => matches.flat().includes(folder));
}

export async function runSuite({ folder, log, env, grep, onTest, onLaunch }: SuiteRun): Promise<SuiteResult> {
  const since = Date.now();
  const failures: Failure[] = [];
  const skipped: string[] = [];
  let passed = 0;
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  let overdue: string | null = null;
  const startTimer = (ms: number, what: string) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      overdue = what;
      suite.signal('SIGKILL');
    }, ms);
  };
  const suite = await launch({
    name: `suite ${folder}`,
    command: process.execPath,
    args: [
      join(ROOT, 'node_modules/mocha/bin/mocha.js'),
      '--reporter',
      join(import.meta.dirname, 'reporter.ts'),
      ...(grep === undefined ? [] : ['--grep', grep]),
    ],
    cwd: join(ROOT, folder),
    env: { ...env, PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${env['PATH'] ?? ''}` },
    log,
    channel: true,
    onMessage: (message) => {
      const result = message as TestMessage;
      startTimer(SILENT_MS_MAX, `no test ended for ${SILENT_MS_MAX / 1000} s`);
      if (result.type === 'pass') onTest((passed += 1), result.title);
      else if (result.type === 'skip') skipped.push(result.title);
      else if (result.type === 'fail') failures.push({ title: result.title, text: result.text });
      else {
        ended = true;
        startTimer(
          EXIT_MS_MAX,
          `it did not exit within ${EXIT_MS_MAX / 1000} s after its last test: something is still open`,
        );
      }
    },
  });
  onLaunch(suite);
  startTimer(SILENT_MS_MAX, `no test ended for ${SILENT_MS_MAX / 1000} s`);
  const exit = await suite.exited;
  clearTimeout(timer);
  const error = overdue ?? (ended ? null : `it exited before its tests ended (${exitText(exit)})`);
  if (error !== null) failures.push({ title: '(the suite itself)', text: `${error}\n${lastLines(log, 30)}` });
  else if (passed + skipped.length + failures.length === 0 && grep === undefined)
    failures.push({ title: '(the suite itself)', text: `it ran no test\n${lastLines(log, 30)}` });
  return { folder, passed, skipped, failures, seconds: (Date.now() - since) / 1000 };
}

/** Finds the test suites of the repository and runs each as a process of its own. */
import { readFileSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from '../layout.ts';
import { launch } from '../processes/launch.ts';
import type { RunningProcess } from '../processes/launch.ts';
import { lastLines } from '../processes/logs.ts';
import { wordsOf } from '../processes/supervised.ts';
import { Refusal } from '../refusal.ts';
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

/** Each test has its own limit; a suite that says nothing for this long hangs between tests. */
const SILENT_MS = 240_000;
/** After its last test a suite has this long to close what it opened. */
const LINGER_MS = 15_000;

export function findSuites(): SuiteFolder[] {
  // Services have the longest suites: begun first, none of them is what everything waits for at the end.
  const folders = ['services', 'packages', 'infra'].flatMap((parent) =>
    readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`),
  );
  // The end-to-end suite comes last and runs alone: its fault tests measure what a loaded machine would blur.
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

/** All suites, or those that are named; a name that names nothing is a mistake, and not a run of fewer tests. */
export function chooseSuites(all: readonly SuiteFolder[], only: readonly string[] | undefined): readonly SuiteFolder[] {
  if (only === undefined) return all;
  const named = only.map((wanted) => all.filter((folder) => folder.startsWith(wanted.replace(/\/$/, ''))));
  const stray = only.find((_, index) => named[index]?.length === 0);
  if (stray !== undefined) throw new Refusal(`--only ${stray} names no suite. There are ${all.join(', ')}.`);
  return all.filter((folder) => named.flat().includes(folder));
}

export async function runSuite({ folder, log, env, grep, onTest, onLaunch }: SuiteRun): Promise<SuiteResult> {
  const since = Date.now();
  const failures: Failure[] = [];
  const skipped: string[] = [];
  let passed = 0;
  let ended = false;
  let timer: NodeJS.Timeout | undefined;
  let overdue: string | null = null;
  const patience = (ms: number, what: string) => {
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
      const told = message as TestMessage;
      patience(SILENT_MS, `said nothing for ${SILENT_MS / 1000} s`);
      if (told.type === 'pass') onTest((passed += 1), told.title);
      else if (told.type === 'skip') skipped.push(told.title);
      else if (told.type === 'fail') failures.push({ title: told.title, text: told.text });
      else {
        ended = true;
        patience(LINGER_MS, `did not end within ${LINGER_MS / 1000} s of its last test: something is still open`);
      }
    },
  });
  onLaunch(suite);
  patience(SILENT_MS, `said nothing for ${SILENT_MS / 1000} s`);
  const exit = await suite.exited;
  clearTimeout(timer);
  const fault = overdue ?? (ended ? null : `ended before its tests did (${wordsOf(exit)})`);
  if (fault !== null) failures.push({ title: '(the suite itself)', text: `${fault}\n${lastLines(log, 30)}` });
  else if (passed + skipped.length + failures.length === 0 && grep === undefined)
    failures.push({ title: '(the suite itself)', text: `ran no test\n${lastLines(log, 30)}` });
  return { folder, passed, skipped, failures, seconds: (Date.now() - since) / 1000 };
}

/** Finds the test suites of the repository and runs them in processes. */
import { globSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { ROOT } from '../layout.ts';
import { launch, type RunningProcess } from '../processes/launch.ts';
import { lastLines } from '../processes/logs.ts';
import { exitText } from '../processes/supervised.ts';
import { UserError } from '../user-error.ts';
import { newProcessorSeconds } from './processors.ts';
import type { TestMessage } from './reporter.ts';
import { describeProcesses } from './still-open.ts';
import type { Assignment } from './worker.ts';

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
  /** Of its processes; 0 where there is no /proc. */
  readonly processorSeconds: number;
}

export interface SuiteOptions {
  readonly folder: SuiteFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly grep: string | undefined;
  /** The log of a worker, by its number. */
  readonly newLog: (worker: number) => string;
  readonly onLaunch: (process: RunningProcess) => void;
}

/** Each test has its own timeout; a worker without a message for this long hangs between tests. */
const SILENT_MS_MAX = 900_000;
/** The time in which a worker must exit after its last test. It first stops its servers, which takes long on a busy disk. */
const EXIT_MS_MAX = 300_000;

/** A further worker loads the modules of the suite again, and starts a PostgreSQL server and often a system. */
export const JOINED_FILES_MIN = 4;

/**
 * Fewer collections of garbage, which take a tenth of the processor time of a worker that loads a thousand modules into a small heap, and
 * no code of the slowest compiler, because few functions of a test run often enough to earn it.
 */
const V8 = ['--min-semi-space-size=32', '--max-semi-space-size=32', '--initial-heap-size=256', '--no-turbofan'];

/** The time in which such a worker writes what is open. */
const DESCRIBE_MS = 5_000;

/** Files that take longer than larger ones: their tests start servers, processes or browsers, or are those of other files. */
const LONG_FILES: readonly string[] = [
  'agent-system.test.ts',
  'cells.test.ts',
  'compiled.pg.test.ts',
  'console.test.ts',
  'crash-points.test.ts',
  'docs-browser.test.ts',
  'document-commands.test.ts',
  'enqueue-crash.nats.test.ts',
  'entries.pg.test.ts',
  'every-benchmark.test.ts',
  'faults.test.ts',
  'graphql-isolation.test.ts',
  'isolation-time.test.ts',
  'lanes-crash-points.pg.test.ts',
  'lanes-replicas.pg.test.ts',
  'live.pg.test.ts',
  'people.test.ts',
  'reconnect-storm.test.ts',
  'revocation.test.ts',
  'snapshot-load.pg.test.ts',
  'standby.pg.test.ts',
  'verify-log.test.ts',
  'without-fast-path.pg.test.ts',
];

const LONG_FILE_BYTES = 200_000;

export function findSuites(): SuiteFolder[] {
  // Services first, and long suites before others, so that the run does not wait for one of them at the end.
  const folders = [['services'], ['infra', 'packages']].flatMap((parents) =>
    parents
      .flatMap((parent) => readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}`))
      .toSorted((one, other) => weightOf(other) - weightOf(one)),
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

interface TestFile {
  readonly file: string;
  /** The module whose system the file shares with others, or the file itself. */
  readonly system: string;
}

/** One run of a suite by any number of workers, which get its files one by one: the next file goes to the first free worker. */
export class SuiteRun {
  readonly folder: SuiteFolder;
  readonly #options: SuiteOptions;
  readonly #files: TestFile[];
  /** Systems that a worker has opened for several files. */
  readonly #opened = new Set<string>();
  readonly #failures: Failure[] = [];
  readonly #skipped: string[] = [];
  readonly #startedAt = Date.now();
  #passed = 0;
  #processorSeconds = 0;
  #launched = 0;
  #running = 0;

  constructor(options: SuiteOptions) {
    this.folder = options.folder;
    this.#options = options;
    this.#files = testFiles(options.folder).map((file) => ({ file, system: systemOf(file) }));
  }

  /** Workers that run now. */
  get workers(): number {
    return this.#running;
  }

  /** Files that no worker has begun. */
  get filesLeft(): number {
    return this.#files.length;
  }

  get passed(): number {
    return this.#passed;
  }

  result(): SuiteResult {
    const [failures, skipped] = [[...this.#failures], this.#skipped];
    if (this.#passed + skipped.length + failures.length === 0 && this.#options.grep === undefined)
      failures.push({ title: '(the suite itself)', text: 'it ran no test' });
    return {
      folder: this.folder,
      passed: this.#passed,
      skipped,
      failures,
      seconds: (Date.now() - this.#startedAt) / 1000,
      processorSeconds: this.#processorSeconds,
    };
  }

  /** Runs one more worker until no file is left. */
  async work(): Promise<void> {
    const { folder, env, grep, newLog, onLaunch } = this.#options;
    this.#running += 1;
    this.#launched += 1;
    const log = newLog(this.#launched);
    let timer: NodeJS.Timeout | undefined;
    let overdue: string | null = null;
    let current = null as string | null;
    let isDone = false;
    const opened = new Set<string>();
    const startTimer = (ms: number, what: string) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        overdue = `${what}\n${describeProcesses(worker.pid)}`;
        void worker.stop('SIGUSR2', DESCRIBE_MS);
      }, ms);
    };
    const assign = () => {
      current = this.#next(opened);
      worker.send({ file: current } satisfies Assignment);
      if (current !== null) return;
      isDone = true;
      startTimer(
        EXIT_MS_MAX,
        `it did not exit within ${EXIT_MS_MAX / 1000} s after its last test: something is still open`,
      );
    };
    const worker = await launch({
      name: `suite ${folder}`,
      command: process.execPath,
      args: [...V8, join(import.meta.dirname, 'worker.ts'), ...(grep === undefined ? [] : [grep])],
      cwd: join(ROOT, folder),
      env: { ...env, PATH: `${join(ROOT, 'node_modules/.bin')}${delimiter}${env['PATH'] ?? ''}` },
      log,
      channel: true,
      onMessage: (message) => {
        startTimer(SILENT_MS_MAX, `no test ended for ${SILENT_MS_MAX / 1000} s`);
        const result = message as TestMessage;
        if (result.type === 'end') assign();
        else this.#count(result);
      },
    });
    onLaunch(worker);
    startTimer(SILENT_MS_MAX, `no test ended for ${SILENT_MS_MAX / 1000} s`);
    const exit = await worker.exited;
    this.#processorSeconds += newProcessorSeconds();
    clearTimeout(timer);
    // A worker that cannot even begin would fail again and again.
    if (!isDone && current === null) this.#files.length = 0;
    const error =
      overdue ?? (isDone ? null : `it exited before the tests of ${current ?? 'a file'} ended (${exitText(exit)})`);
    if (error !== null) this.#failures.push({ title: '(the suite itself)', text: `${error}\n${lastLines(log, 60)}` });
    this.#running -= 1;
  }

  /**
   * The next file for a worker with these systems: one that needs no other, otherwise one whose system no worker has, because starting
   * a system takes seconds of a processor. The last few files are left to the worker that has theirs.
   */
  #next(opened: Set<string>): string | null {
    const next =
      this.#files.find(({ system }) => opened.has(system)) ??
      this.#files.find(({ system }) => !this.#opened.has(system)) ??
      (this.#files.length >= JOINED_FILES_MIN || this.#running === 1 ? this.#files[0] : undefined);
    if (next === undefined) return null;
    this.#files.splice(this.#files.indexOf(next), 1);
    for (const systems of [opened, this.#opened]) systems.add(next.system);
    return next.file;
  }

  #count(message: Exclude<TestMessage, { type: 'end' }>): void {
    if (message.type === 'pass') this.#passed += 1;
    else if (message.type === 'skip') this.#skipped.push(message.title);
    else this.#failures.push({ title: message.title, text: message.text });
  }
}

/** The test files of a suite as absolute paths, long and large ones first, because the last file should not be a long one. */
function testFiles(folder: SuiteFolder): string[] {
  const { spec } = JSON.parse(readFileSync(join(ROOT, '.mocharc.json'), 'utf8')) as { spec: string[] };
  const files = globSync(spec, { cwd: join(ROOT, folder) }).map((file) => join(ROOT, folder, file));
  return files.toSorted((one, other) => Number(isLong(other)) - Number(isLong(one)) || sizeOf(other) - sizeOf(one));
}

/** A module with an `after` outside any suite opens a system for all files that import it, also through other modules beside them. */
function systemOf(file: string): string {
  const seen = new Set([file]);
  for (const module of seen) {
    const text = readFileSync(module, 'utf8');
    if (module !== file && /^after\(/m.test(text)) return module;
    for (const [, path = ''] of text.matchAll(/ from '(\.\/[\w-]+\.ts)'/g)) seen.add(join(dirname(module), path));
  }
  return file;
}

/** The bytes of its tests; a long file counts as many. */
function weightOf(folder: SuiteFolder): number {
  return testFiles(folder).reduce((sum, file) => sum + sizeOf(file) + (isLong(file) ? LONG_FILE_BYTES : 0), 0);
}

function isLong(file: string): boolean {
  return LONG_FILES.includes(basename(file));
}

function sizeOf(file: string): number {
  return statSync(file).size;
}

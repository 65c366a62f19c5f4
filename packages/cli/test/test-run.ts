import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { run, type Io } from '../src/index.ts';

export interface TestRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface TestRunOptions {
  /** All of the environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  /** A terminal of so many columns. Default: pipes. */
  readonly columns?: number;
  readonly more?: Partial<Io>;
}

/** Runs a command within this process, as a shell would with pipes, or at a terminal. */
export async function runWts(
  argv: readonly string[],
  { env = {}, stdin = '', columns, more = {} }: TestRunOptions = {},
): Promise<TestRun> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err] = [text(stdout), text(stderr)];
  const isTerminal = columns !== undefined;
  const io: Io = {
    stdin: Readable.from([stdin]),
    stdout,
    stderr,
    isTty: { stdin: isTerminal, stdout: isTerminal, stderr: isTerminal },
    columns: columns ?? 80,
    rows: 1_000,
    env,
    cwd: '/',
    platform: 'linux',
    now: () => new Date(),
    timezone: 'UTC',
    interrupted: new AbortController().signal,
    launch: () => Promise.reject(new Error('this test has no program to launch')),
    ...more,
  };
  const code = await run(argv, io);
  stdout.end();
  stderr.end();
  return { code, out: await out, err: await err };
}

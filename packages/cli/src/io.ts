import type { Readable, Writable } from 'node:stream';
import { EXITS } from './fault.ts';

/** What a command may use of its process. Tests pass their own, so that commands run within a test. */
export interface Io {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether each is a terminal. */
  readonly isTty: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
  /** Of the terminal. */
  readonly columns: number;
  readonly rows: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly now: () => Date;
  /** IANA name of the person's time zone. */
  readonly timezone: string;
  /** Aborts at Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Runs a command line of the person, such as their pager or editor, at their terminal. Resolves to its exit code. */
  readonly launch: (
    command: string,
    how: { readonly args?: readonly string[]; readonly input?: string },
  ) => Promise<number>;
}

/** npm and a terminal may both deliver the same Ctrl-C, so a second one counts only after this time. */
const SAME_PRESS_MS = 400;
/** A command that is interrupted has so long to undo what it began. */
const UNDO_MS = 5_000;

/** Of the process that runs now. */
export function processIo(of: NodeJS.Process): Io {
  const interrupting = new AbortController();
  let firstAt: number | null = null;
  let launchedCount = 0;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    of.on(signal, () => {
      // The terminal sends Ctrl-C also to the program that has it, where it may mean something else, as in less.
      if (signal === 'SIGINT' && launchedCount > 0) return;
      if (firstAt !== null && Date.now() - firstAt > SAME_PRESS_MS) kill(of);
      if (firstAt === null) setTimeout(kill, UNDO_MS, of);
      firstAt ??= Date.now();
      interrupting.abort();
    });
  }
  const endInput = (): void => void of.stdin.destroy();
  const { stdout, stderr, env, platform } = of;
  const forced = env['WTS_FORCE_TTY'] ?? '';
  return {
    // Few commands read it, and Node loads much for it.
    get stdin() {
      interrupting.signal.addEventListener('abort', endInput);
      return of.stdin;
    },
    stdout,
    stderr,
    isTty: {
      get stdin() {
        return of.stdin.isTTY;
      },
      stdout: stdout.isTTY || forced !== '',
      stderr: stderr.isTTY,
    },
    // A terminal without a size says 0.
    columns: Number.parseInt(forced, 10) || stdout.columns || 80,
    rows: stdout.rows || 24,
    env,
    cwd: of.cwd(),
    platform,
    now: () => new Date(),
    get timezone() {
      return Intl.DateTimeFormat().resolvedOptions().timeZone;
    },
    interrupted: interrupting.signal,
    launch: (command, how) => {
      launchedCount += 1;
      return launch(command, how).finally(() => (launchedCount -= 1));
    },
  };
}

/** Ends the process when the readers of its output have all of it, or at Ctrl-C. What is still open, as a socket, does not keep it. */
export async function endProcess(of: NodeJS.Process, { interrupted }: Io, code: number): Promise<never> {
  const written = [of.stdout, of.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve)));
  const stopped = new Promise((resolve) => {
    if (interrupted.aborted) resolve(null);
    interrupted.addEventListener('abort', resolve);
  });
  await Promise.race([Promise.all(written), stopped]);
  return of.exit(interrupted.aborted ? EXITS.interrupted[0] : code);
}

/** Ends by the signal, because Node would wait for the calls of the file system, as the open of a named pipe without a writer. */
function kill(of: NodeJS.Process): void {
  of.removeAllListeners('SIGINT');
  of.kill(of.pid, 'SIGINT');
}

const launch: Io['launch'] = async (command, { args = [], input }) => {
  const { spawn } = await import('node:child_process');
  return new Promise((resolve, reject) => {
    // The words of the person are a command line; what is added to it never is.
    const [shell, ...words] = ['sh', '-c', `${command} "$@"`, 'sh', ...args] as const;
    const child = spawn(shell, words, { stdio: [input === undefined ? 'inherit' : 'pipe', 'inherit', 'inherit'] });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
    // A pager that ends before it has read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
};

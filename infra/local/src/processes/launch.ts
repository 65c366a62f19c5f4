import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { guard, unguard } from './guard.ts';
import { identityOf, type ProcessIdentity } from './identity.ts';

/** Every child process gets the library path, because Node may not start without it. */
const { LD_LIBRARY_PATH } = process.env;
const LOADER = LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };

export interface LaunchOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** stdout and stderr are appended to this file. */
  readonly log: string;
  /** The folder for a record of the running process, which the start after a crash reads. */
  readonly records?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** True: an IPC channel, which closes when this process ends. */
  readonly channel?: boolean;
  /** Called for each message on that channel. */
  readonly onMessage?: (message: unknown) => void;
  /** True for a server that must not keep this process running. */
  readonly background?: boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessRecord extends ProcessIdentity {
  readonly name: string;
}

/** A guarded child process in its own session, so that Ctrl-C reaches only the launcher, which stops children in order. */
export class RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  /** Where its log begins in the file, which also has those of earlier processes. */
  readonly logStart: number;
  /** Resolves when the process has exited; never rejects. */
  readonly exited: Promise<Exit>;
  exit: Exit | null = null;
  readonly #child: ChildProcess;

  constructor(options: LaunchOptions, child: ChildProcess, logStart: number) {
    const { pid } = child;
    if (pid === undefined) throw new Error(`${options.name} was never started`);
    this.name = options.name;
    this.pid = pid;
    this.log = options.log;
    this.logStart = logStart;
    this.#child = child;
    const record = options.records === undefined ? null : join(options.records, `${options.name}.json`);
    if (record !== null) keepRecord(record, { name: options.name, ...(identityOf(pid) ?? { pid, startMark: '' }) });
    guard(pid);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        unguard(pid);
        if (record !== null) rmSync(record, { force: true });
        this.exit = { code, signal };
        resolve(this.exit);
      });
    });
  }

  signal(signal: NodeJS.Signals): void {
    if (this.exit === null) this.#child.kill(signal);
  }

  /** Sends a message on the IPC channel. A process that has exited gets none. */
  send(message: object): void {
    if (this.#child.connected) this.#child.send(message);
  }

  /** Sends the signal, and SIGKILL after `graceMs`. Resolves when the process has exited. */
  async stop(signal: NodeJS.Signals, graceMs: number): Promise<Exit> {
    // Keeps this process running until the exit, also for a background process.
    this.#child.ref();
    this.signal(signal);
    const timer = setTimeout(() => this.signal('SIGKILL'), graceMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(timer);
    }
  }
}

export async function launch(options: LaunchOptions): Promise<RunningProcess> {
  mkdirSync(dirname(options.log), { recursive: true });
  const log = openSync(options.log, 'a', 0o600);
  const logStart = fstatSync(log).size;
  try {
    const child = spawn(options.command, options.args, {
      cwd: options.cwd ?? '/',
      env: { ...LOADER, ...options.env },
      detached: true,
      stdio: options.channel ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    // Later errors are failed signals or a closed channel, which the exit handler covers.
    child.on('error', () => {});
    if (options.onMessage !== undefined) child.on('message', options.onMessage);
    if (options.channel) child.channel?.unref();
    if (options.background) child.unref();
    return new RunningProcess(options, child, logStart);
  } finally {
    closeSync(log);
  }
}

function keepRecord(file: string, record: ProcessRecord): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
}

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { guard, unguard } from './guard.ts';
import { identityOf } from './identity.ts';
import type { ProcessIdentity } from './identity.ts';

/** Where libraries are found is a matter of the machine, not of the program: without it Node itself may not start. */
const { LD_LIBRARY_PATH } = process.env;
const LOADER = LD_LIBRARY_PATH === undefined ? {} : { LD_LIBRARY_PATH };

export interface LaunchOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Both outputs are appended here. */
  readonly log: string;
  /** Where a record of the process is kept while it runs, for the start after a crash. */
  readonly records?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** An IPC channel, whose end tells a service that its supervisor is gone. */
  readonly channel?: boolean;
  /** What the process sends over that channel. */
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

/** A child in a session of its own (Ctrl-C reaches only the launcher, which stops things in order) and under guard. */
export class RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  /** Resolves when the process is gone and waited for; never rejects. */
  readonly exited: Promise<Exit>;
  exit: Exit | null = null;
  readonly #child: ChildProcess;

  constructor(options: LaunchOptions, child: ChildProcess) {
    const { pid } = child;
    if (pid === undefined) throw new Error(`${options.name} was never started`);
    this.name = options.name;
    this.pid = pid;
    this.log = options.log;
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

  /** Asks, waits, then kills: bounded by `graceMs` and the time the kernel takes. */
  async stop(signal: NodeJS.Signals, graceMs: number): Promise<Exit> {
    // Whoever waits for the end must see it, also of a process that does not keep this one running.
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
    // Later errors are failed signals or a broken channel: the exit tells what matters.
    child.on('error', () => {});
    if (options.onMessage !== undefined) child.on('message', options.onMessage);
    if (options.channel) child.channel?.unref();
    if (options.background) child.unref();
    return new RunningProcess(options, child);
  } finally {
    closeSync(log);
  }
}

function keepRecord(file: string, record: ProcessRecord): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(record), { mode: 0o600 });
}

import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { builtProgram, eventually } from '@wts/testkit';

const PROGRAM = join(import.meta.dirname, 'enqueue-main.ts');

export interface EnqueueProcessOptions {
  readonly databaseUrl: string;
  readonly natsUrl: string;
  /**
   * Kills itself at its nth statement: entries are received, the statement is sent, its answer is here, or its endpoints are
   * about to be announced.
   */
  readonly crash?: { readonly point: CrashPoint; readonly step: number };
  readonly leaseSilenceMaxMs?: number;
}

export const CRASH_POINTS = ['received', 'sent', 'written', 'announced'] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** A dispatcher that only enqueues, in a process of its own, so that it can be killed and paused. */
export class EnqueueProcess implements AsyncDisposable {
  isActive = false;
  readonly #child: ChildProcess;

  private constructor(program: string, options: EnqueueProcessOptions) {
    this.#child = fork(program, [JSON.stringify(options)], { stdio: 'inherit' });
    this.#child.on('message', (message: { isActive: boolean }) => (this.isActive = message.isActive));
  }

  static async start(options: EnqueueProcessOptions): Promise<EnqueueProcess> {
    return new EnqueueProcess(await builtProgram(PROGRAM), options);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    this.#child.kill(name);
  }

  untilHolding(): Promise<boolean> {
    return eventually(() => this.isActive);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isAlive) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}

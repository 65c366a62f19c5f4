import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

interface Reply {
  readonly nth: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** A process that executes commands, so that its work does not delay the process that measures, and is not delayed by that one. */
export class Worker<Command> implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #commands = 0;

  /** The file calls `serveCommands`. */
  constructor(file: URL) {
    // JSON has no Infinity.
    this.#process = fork(file, { serialization: 'advanced' });
    this.#process.on('message', (reply: Reply) => this.#settle(reply));
    this.#process.on('exit', (code) => {
      for (const nth of this.#waiting.keys()) this.#settle({ nth, error: `${file.pathname} exited with ${code}` });
    });
  }

  get pid(): number {
    const { pid } = this.#process;
    if (pid === undefined) throw new Error('the worker did not start');
    return pid;
  }

  async do<Result = void>(command: Command): Promise<Result> {
    if (!this.#process.connected) throw new Error('the worker has exited');
    const nth = ++this.#commands;
    const { result, error } = await new Promise<Reply>((resolve) => {
      this.#waiting.set(nth, resolve);
      this.#process.send({ nth, command });
    });
    if (error !== undefined) throw new Error(error);
    return result as Result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }

  #settle(reply: Reply): void {
    this.#waiting.get(reply.nth)?.(reply);
    this.#waiting.delete(reply.nth);
  }
}

/** In the process of a worker. It ends with the process that started it. */
export function serveCommands(execute: (command: never) => unknown): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ nth, command }: { nth: number; command: never }) => {
    void (async () => {
      try {
        process.send?.({ nth, result: await execute(command) });
      } catch (error) {
        process.send?.({ nth, error: String((error as Error).stack) });
      }
    })();
  });
}

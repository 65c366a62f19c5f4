import { setTimeout as sleep } from 'node:timers/promises';
import { UserError, indented, textOf } from '../user-error.ts';
import type { Exit, RunningProcess } from './launch.ts';
import { lastLines } from './logs.ts';

export interface SupervisedOptions {
  readonly name: string;
  /** The address of its `/ready`. Not set when `launch` resolves only after the process is ready. */
  readonly url?: string;
  readonly log: string;
  /** Resolves when the process runs; rejects when it cannot start. */
  readonly launch: () => Promise<RunningProcess>;
  readonly stopSignal?: NodeJS.Signals;
  /** True: a new process starts after a crash. False: the process stays down, which tests need. */
  readonly restarts: boolean;
  readonly onCrash?: (text: string) => void;
  readonly onRestarted?: (name: string) => void;
  /** False when everything stops: a crash is then neither reported nor followed by a start. */
  readonly mayRestart?: () => boolean;
}

const BACKOFF_FIRST_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** A crash after this time starts with the first backoff again. */
const HEALTHY_MS = 30_000;
/** `untilReady` rejects after this many crashes, before its deadline. */
const FAILURES_MAX = 3;
const READY_AGAIN_MS = 60_000;
const POLL_MS = 20;
const PROBE_MS = 3_000;

/** One service process that is optionally restarted when it crashes. */
export class SupervisedProcess implements AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly log: string;
  readonly #options: SupervisedOptions;
  #process: RunningProcess | null = null;
  #isWanted = false;
  #backoffMs = BACKOFF_FIRST_MS;
  /** Exits since it was last ready. */
  #failures = 0;
  #wakeUp = new AbortController();

  constructor(options: SupervisedOptions) {
    this.name = options.name;
    this.url = options.url ?? '';
    this.log = options.log;
    this.#options = options;
  }

  /** Null while there is no process. */
  get pid(): number | null {
    return this.#process?.exit === null ? this.#process.pid : null;
  }

  async start(): Promise<void> {
    if (this.pid !== null) return;
    this.#isWanted = true;
    this.#wakeUp = new AbortController();
    const launched = await this.#options.launch();
    this.#process = launched;
    const since = Date.now();
    void launched.exited.then((exit) => this.#onExit(launched, exit, Date.now() - since));
    // `stop` was called during the launch.
    if (!this.#isWanted) await this.stop();
  }

  /** Rejects with the last lines of the log when the process exits before it is ready, or is not ready in time. */
  async untilReady(deadlineMs: number): Promise<void> {
    const deadline = Date.now() + deadlineMs;
    let reason = 'it did not answer';
    while (Date.now() < deadline) {
      const exit = this.#process?.exit ?? null;
      if (exit !== null && (!this.#options.restarts || this.#failures >= FAILURES_MAX))
        throw this.#failed(`exited before it was ready (${exitText(exit)})`);
      const notReady = this.url === '' ? null : await probe(`${this.url}/ready`);
      if (notReady === null) {
        this.#failures = 0;
        return;
      }
      reason = notReady;
      await sleep(POLL_MS);
    }
    throw this.#failed(`was not ready in ${Math.round(deadlineMs / 1000)} s (${reason})`);
  }

  async restart(deadlineMs = 30_000): Promise<void> {
    await this.stop();
    await this.start();
    await this.untilReady(deadlineMs);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.#options.restarts) this.#isWanted = false;
    this.#process?.signal(signal);
    await this.#process?.exited;
  }

  /** Pauses the process with SIGSTOP. Its connections stay open, as when a machine hangs. */
  pause(): void {
    this.#process?.signal('SIGSTOP');
  }

  resume(): void {
    this.#process?.signal('SIGCONT');
  }

  async stop(graceMs = 15_000): Promise<void> {
    this.#isWanted = false;
    this.#wakeUp.abort();
    this.resume();
    await this.#process?.stop(this.#options.stopSignal ?? 'SIGTERM', graceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #onExit(ended: RunningProcess, exit: Exit, runMs: number): Promise<void> {
    if (!this.#isWanted || ended !== this.#process) return;
    this.#failures += 1;
    if (!this.#restarts()) return;
    if (runMs > HEALTHY_MS) this.#backoffMs = BACKOFF_FIRST_MS;
    await this.#startAgain(
      `exited (${exitText(exit)})`,
      `The last lines of its log:\n${indented(lastLines(this.log, 5, ended.logStart))}`,
    );
  }

  async #startAgain(what: string, detail: string): Promise<void> {
    const { onCrash, onRestarted } = this.#options;
    const waitMs = this.#backoffMs;
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, waitMs * 2);
    onCrash?.(`${this.name} ${what}. It starts again in ${waitMs / 1000} s. ${detail}`);
    const { signal } = this.#wakeUp;
    await sleep(waitMs, undefined, { signal }).catch(() => {});
    if (!this.#isWanted || signal.aborted || !this.#restarts()) return;
    try {
      await this.start();
    } catch (error) {
      if (!this.#restarts()) return;
      return this.#startAgain('could not be started', textOf(error));
    }
    const started = this.#process;
    await this.untilReady(READY_AGAIN_MS).then(
      () => {
        if (started === this.#process && started?.exit === null) onRestarted?.(this.name);
      },
      // It crashed again, which `#onExit` reports, or it hangs, which `/ready` shows.
      () => {},
    );
  }

  #restarts(): boolean {
    return this.#options.restarts && this.#options.mayRestart?.() !== false;
  }

  #failed(what: string): UserError {
    return new UserError(
      `The ${this.name} service ${what}.\n${indented(lastLines(this.log, 8, this.#process?.logStart))}\nThe whole log is in ${this.log}`,
    );
  }
}

export function exitText(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

/** Null when ready, otherwise the reason why not. */
async function probe(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    const body = await response.text();
    return response.ok ? null : `it answers ${response.status} ${body.slice(0, 200)}`;
  } catch {
    return 'it does not answer';
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal, textOf } from '../refusal.ts';
import type { Exit, RunningProcess } from './launch.ts';
import { lastLines } from './logs.ts';

export interface SupervisedOptions {
  readonly name: string;
  /** Where it answers `/ready`; none when `launch` resolves only once the process serves. */
  readonly url?: string;
  readonly log: string;
  /** Resolves when the process runs, and rejects when it cannot. */
  readonly launch: () => Promise<RunningProcess>;
  readonly stopSignal?: NodeJS.Signals;
  /** True: a crash is answered with a new process. False: a test looks at what happens without one. */
  readonly restarts: boolean;
  readonly onCrash?: (text: string) => void;
  readonly onBack?: (name: string) => void;
}

const BACKOFF_FIRST_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** A crash after this long begins a new series. */
const HEALTHY_MS = 30_000;
/** A service that cannot start is given up after this many tries, before the deadline. */
const FAILURES_MAX = 3;
const READY_AGAIN_MS = 60_000;
const POLL_MS = 20;
const PROBE_MS = 3_000;

/** One process over all its lives: started again when it crashes, if so asked, and stopped for good only from here. */
export class SupervisedProcess implements AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly log: string;
  readonly #options: SupervisedOptions;
  #process: RunningProcess | null = null;
  #isWanted = false;
  #backoffMs = BACKOFF_FIRST_MS;
  /** Ends since it was last ready. */
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
    // It was stopped while it was being launched.
    if (!this.#isWanted) await this.stop();
  }

  /** Rejects with the last lines of the log when the process ends before it was ready, or does not become so in time. */
  async untilReady(deadlineMs: number): Promise<void> {
    const deadline = Date.now() + deadlineMs;
    let fault = 'it did not answer';
    while (Date.now() < deadline) {
      const exit = this.#process?.exit ?? null;
      if (exit !== null && (!this.#options.restarts || this.#failures >= FAILURES_MAX)) {
        throw this.#failed(`ended before it was ready (${wordsOf(exit)})`);
      }
      const answer = this.url === '' ? null : await probe(`${this.url}/ready`);
      if (answer === null) {
        this.#failures = 0;
        return;
      }
      fault = answer;
      await sleep(POLL_MS);
    }
    throw this.#failed(`was not ready in ${Math.round(deadlineMs / 1000)} s (${fault})`);
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

  /** The process stops without noticing; its connections stay open. As a machine that hangs, or a long collection. */
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

  async #onExit(ended: RunningProcess, exit: Exit, lifeMs: number): Promise<void> {
    if (!this.#isWanted || ended !== this.#process) return;
    this.#failures += 1;
    if (!this.#options.restarts) return;
    if (lifeMs > HEALTHY_MS) this.#backoffMs = BACKOFF_FIRST_MS;
    await this.#revive(`ended (${wordsOf(exit)})`, `Its last lines:\n${indented(lastLines(this.log, 5))}`);
  }

  async #revive(what: string, detail: string): Promise<void> {
    const { onCrash, onBack } = this.#options;
    const waitMs = this.#backoffMs;
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, waitMs * 2);
    onCrash?.(`${this.name} ${what}; starting it again in ${waitMs / 1000} s. ${detail}`);
    const { signal } = this.#wakeUp;
    await sleep(waitMs, undefined, { signal }).catch(() => {});
    if (!this.#isWanted || signal.aborted) return;
    try {
      await this.start();
    } catch (error) {
      return this.#revive('could not be started', textOf(error));
    }
    const started = this.#process;
    await this.untilReady(READY_AGAIN_MS).then(
      () => {
        if (started === this.#process && started?.exit === null) onBack?.(this.name);
      },
      // It crashed again, which is reported on its own, or hangs, which its readiness shows.
      () => {},
    );
  }

  #failed(what: string): Refusal {
    return new Refusal(
      `The ${this.name} service ${what}.\n${indented(lastLines(this.log, 8))}\nThe whole log: ${this.log}`,
    );
  }
}

export function wordsOf(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}

function indented(lines: string): string {
  return lines.replace(/^/gm, '    ');
}

/** Null when ready, else why not. */
async function probe(url: string): Promise<string | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PROBE_MS) });
    const body = await answer.text();
    return answer.ok ? null : `it answers ${answer.status} ${body.slice(0, 200)}`;
  } catch {
    return 'it does not answer';
  }
}

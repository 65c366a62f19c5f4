/**
 * One service process under supervision: the same address over all its lives, started again when it crashes (if so
 * asked), stopped for good only by us.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exit, RunningProcess } from './processes/launch.ts';
import { lastLines } from './processes/logs.ts';
import { Refusal } from './refusal.ts';

export interface SupervisedOptions {
  readonly name: string;
  readonly url: string;
  readonly log: string;
  readonly launch: () => Promise<RunningProcess>;
  /** True: a crash is answered with a new process. False: somebody watches what happens without one. */
  readonly restarts: boolean;
  readonly onCrash?: (crash: Crash) => void;
  readonly onBack?: (service: SupervisedService) => void;
}

export interface Crash {
  readonly service: SupervisedService;
  readonly exit: Exit;
  readonly lastLines: string;
  readonly nextTryMs: number;
}

const BACKOFF_FIRST_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** After this long a crash counts as a new misfortune, not as the next one of a series. */
const HEALTHY_MS = 30_000;
/** Whoever waits for a service that cannot start is told after this many tries, not at the deadline. */
const FAILURES_MAX = 3;
const POLL_MS = 20;
const PROBE_MS = 3_000;

export class SupervisedService implements AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly log: string;
  readonly #options: SupervisedOptions;
  #process: RunningProcess | null = null;
  #wanted = false;
  #backoffMs = BACKOFF_FIRST_MS;
  /** Ends since it was last ready. */
  #failures = 0;
  #wakeUp = new AbortController();

  constructor(options: SupervisedOptions) {
    this.name = options.name;
    this.url = options.url;
    this.log = options.log;
    this.#options = options;
  }

  /** Null while there is no process. */
  get pid(): number | null {
    return this.#process?.exit === null ? this.#process.pid : null;
  }

  /** Resolves when the process runs; `untilReady` says when it serves. */
  async start(): Promise<void> {
    if (this.pid !== null) return;
    this.#wanted = true;
    this.#wakeUp = new AbortController();
    const launched = await this.#options.launch();
    this.#process = launched;
    const since = Date.now();
    void launched.exited.then((exit) => this.#gone(launched, exit, Date.now() - since));
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
      const answer = await probe(`${this.url}/ready`);
      if (answer === null) {
        this.#failures = 0;
        return;
      }
      fault = answer;
      await sleep(POLL_MS);
    }
    throw this.#failed(`was not ready in ${Math.round(deadlineMs / 1000)} s (${fault})`);
  }

  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit | null> {
    if (!this.#options.restarts) this.#wanted = false;
    this.#process?.signal(signal);
    return this.#process === null ? Promise.resolve(null) : this.#process.exited;
  }

  /** The process stops without noticing; its connections stay open. As a machine that hangs, or a long collection. */
  pause(): void {
    this.#process?.signal('SIGSTOP');
  }

  resume(): void {
    this.#process?.signal('SIGCONT');
  }

  async restart(deadlineMs = 30_000): Promise<void> {
    await this.stop();
    await this.start();
    await this.untilReady(deadlineMs);
  }

  async stop(graceMs = 15_000): Promise<void> {
    this.#wanted = false;
    this.#wakeUp.abort();
    this.resume();
    await this.#process?.stop('SIGTERM', graceMs);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #gone(ended: RunningProcess, exit: Exit, lifeMs: number): Promise<void> {
    if (!this.#wanted || ended !== this.#process) return;
    this.#failures += 1;
    if (lifeMs > HEALTHY_MS) this.#backoffMs = BACKOFF_FIRST_MS;
    const nextTryMs = this.#backoffMs;
    this.#options.onCrash?.({ service: this, exit, lastLines: lastLines(this.log, 5), nextTryMs });
    if (!this.#options.restarts) return;
    this.#backoffMs = Math.min(BACKOFF_MAX_MS, this.#backoffMs * 2);
    await sleep(nextTryMs, undefined, { signal: this.#wakeUp.signal }).catch(() => {});
    if (!this.#wanted || this.#wakeUp.signal.aborted) return;
    await this.start();
    const started = this.#process;
    await this.untilReady(60_000).then(
      () => {
        if (started === this.#process && started?.exit === null) this.#options.onBack?.(this);
      },
      // It crashed again, which is told on its own, or hangs, which its readiness shows.
      () => {},
    );
  }

  #failed(what: string): Refusal {
    const lines = lastLines(this.log, 8);
    return new Refusal(
      `The ${this.name} service ${what}.\n${lines.replace(/^/gm, '    ')}\nThe whole log: ${this.log}`,
    );
  }
}

export function wordsOf(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
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

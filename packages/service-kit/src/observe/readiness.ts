import { Fault } from '@wts/contracts';
import type { Logger } from './logger.ts';
import { SetupError } from '../config/setup-error.ts';
import { SERVICE_LIMITS } from '../limits.ts';

/** Resolves when what it checks works, rejects otherwise. Must stop when the signal aborts. */
export type ReadinessCheck = (signal: AbortSignal) => Promise<unknown>;

/** One background work of this process, as `/ready` shows it. */
export interface BackgroundStatus {
  /** Whether this process runs it now. */
  readonly isActive: boolean;
  /** When a run last succeeded in this process. */
  readonly lastRunAt: string | null;
  /** How long it is overdue. */
  readonly lagMs: number;
  readonly runs: number;
  readonly failures: number;
}

interface FailedCheck {
  readonly name: string;
  readonly cause: Error;
}

/** Probes within this time share a result, so that probes of a public server put no load on the database. */
const SHARED_MS = 250;

/**
 * Whether a service can serve requests. `/ready` runs all checks concurrently within SERVICE_LIMITS.readyTimeoutMs. A background loop that
 * cannot continue calls `fail`; from then on the service is not ready until it is restarted.
 */
export class Readiness {
  readonly #checks = new Map<string, ReadinessCheck>();
  readonly #failed = new Map<string, string>();
  readonly #background = new Map<string, () => BackgroundStatus>();
  readonly #log: Logger;
  #draining = false;
  #wasReady = true;
  #last: { readonly at: number; readonly result: Promise<readonly FailedCheck[]> } | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(name: string, check: ReadinessCheck): void {
    this.#checks.set(name, check);
  }

  /** For background loops that cannot continue. */
  fail(name: string, reason: string): void {
    if (!this.#failed.has(name)) this.#log.error({ check: name, reason }, 'not ready until this service is restarted');
    this.#failed.set(name, reason);
  }

  /** Shows the status of background work in `/ready`. Work that fails does not make the service unready: requests need it not. */
  addBackground(name: string, read: () => BackgroundStatus): void {
    this.#background.set(name, read);
  }

  /** By the name of the work; undefined for a service without any. */
  background(): Readonly<Record<string, BackgroundStatus>> | undefined {
    if (this.#background.size === 0) return undefined;
    return Object.fromEntries([...this.#background].map(([name, read]) => [name, read()]));
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  drain(): void {
    this.#draining = true;
  }

  /** Throws `unavailable` unless all checks pass. Why they fail is in the log only, except what an operator can change. */
  async check(): Promise<void> {
    if (this.#draining || this.#failed.size > 0) throw new Fault('unavailable');
    const failing = await this.#run();
    const isReady = failing.length === 0;
    const message = failing.find(({ cause }) => cause instanceof SetupError)?.cause.message;
    if (isReady !== this.#wasReady) {
      this.#wasReady = isReady;
      if (isReady) this.#log.info('ready again');
      else
        this.#log.warn(
          { failing: failing.map(({ name }) => name), reason: message, err: failing[0]?.cause },
          'not ready',
        );
    }
    if (!isReady) throw new Fault('unavailable', message === undefined ? {} : { message });
  }

  #run(): Promise<readonly FailedCheck[]> {
    const at = performance.now();
    if (this.#last === null || at - this.#last.at > SHARED_MS) this.#last = { at, result: this.#runAll() };
    return this.#last.result;
  }

  async #runAll(): Promise<readonly FailedCheck[]> {
    const deadline = AbortSignal.timeout(SERVICE_LIMITS.readyTimeoutMs);
    const outcomes = await Promise.all(
      [...this.#checks].map(async ([name, check]) => {
        const overdue = Promise.withResolvers<never>();
        const onAbort = (): void => overdue.reject(new Error('took too long'));
        deadline.addEventListener('abort', onAbort, { once: true });
        try {
          await Promise.race([check(deadline), overdue.promise]);
          return null;
        } catch (err) {
          this.#log.debug({ check: name, err }, 'readiness check failed');
          return { name, cause: err as Error };
        } finally {
          deadline.removeEventListener('abort', onAbort);
        }
      }),
    );
    return outcomes.filter((failed) => failed !== null);
  }
}

import type { TestSystem } from '@wts/testkit';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Told } from './honest-worker.ts';
import type { Sample } from './samples.ts';

const SETTLES_MS = 120_000;

/**
 * A person of another workspace who writes, reads a page of the log and loads a snapshot at an even pace. In a thread of its
 * own, so that what it waits for is the system.
 */
export class HonestPerson implements AsyncDisposable {
  readonly #worker: Worker;
  #samples: Sample[] = [];
  #ended = Promise.withResolvers<void>();

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (told: Told) => {
      if (told.type === 'sample') this.#samples.push(told.sample);
      if (told.type === 'ended') this.#ended.resolve();
    });
  }

  static async settle(testSystem: TestSystem): Promise<HonestPerson> {
    const { token } = await testSystem.person('Neighbor');
    const workerData = { baseUrl: testSystem.baseUrl, token };
    const worker = new Worker(new URL('honest-worker.ts', import.meta.url), { workerData });
    const person = new HonestPerson(worker);
    await once(worker, 'message', { signal: AbortSignal.timeout(SETTLES_MS) });
    return person;
  }

  begin(): void {
    this.#order('begin');
  }

  /** When everything that was asked for is answered. */
  async end(): Promise<void> {
    this.#ended = Promise.withResolvers();
    this.#order('end');
    await this.#ended.promise;
  }

  /** What was answered since this was asked last. */
  take(): readonly Sample[] {
    const samples = this.#samples;
    this.#samples = [];
    return samples;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  #order(order: 'begin' | 'end'): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(order);
  }
}

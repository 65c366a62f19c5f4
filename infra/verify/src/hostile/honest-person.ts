import type { ReceiverOptions, TestSystem } from '@wts/testkit';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { WorkerMessage } from './honest-worker.ts';
import type { RequestSample } from './samples.ts';

const START_MS = 120_000;

/**
 * A person of another workspace who writes, reads a page of the log, loads a snapshot, queries and gets webhooks at a fixed pace. It runs in a
 * separate thread, so that only the system delays it.
 */
export class HonestPerson implements AsyncDisposable {
  readonly #worker: Worker;
  #samples: RequestSample[] = [];
  #ended = Promise.withResolvers<void>();

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'sample') this.#samples.push(message.sample);
      if (message.type === 'ended') this.#ended.resolve();
    });
  }

  /** `identity`: the certificate of their receiver of webhooks, which the dispatcher must trust. */
  static async start(testSystem: TestSystem, identity: ReceiverOptions['identity']): Promise<HonestPerson> {
    const { token } = await testSystem.person('Neighbor');
    const workerData = { baseUrl: testSystem.baseUrl, token, identity };
    const worker = new Worker(new URL('honest-worker.ts', import.meta.url), { workerData });
    const person = new HonestPerson(worker);
    await once(worker, 'message', { signal: AbortSignal.timeout(START_MS) });
    return person;
  }

  begin(): void {
    this.#post('begin');
  }

  /** Resolves when every request has its response. */
  async end(): Promise<void> {
    this.#ended = Promise.withResolvers();
    this.#post('end');
    await this.#ended.promise;
  }

  /** The samples since the last call. */
  take(): readonly RequestSample[] {
    const samples = this.#samples;
    this.#samples = [];
    return samples;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  #post(command: 'begin' | 'end'): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(command);
  }
}

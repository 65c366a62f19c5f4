import type { ReceiverOptions, TestSystem } from '@wts/testkit';
import { Worker } from '@wts/testkit/worker';
import type { HonestCommand } from './honest-worker.ts';
import type { RequestSample } from './samples.ts';

/**
 * A person of another workspace who writes, reads a page of the log, loads a snapshot, queries and gets webhooks at a fixed pace, in a
 * process of their own.
 */
export class HonestPerson implements AsyncDisposable {
  readonly #worker = new Worker<HonestCommand>(new URL('honest-worker.ts', import.meta.url));

  /** `identity`: the certificate of their receiver of webhooks, which the dispatcher must trust. */
  static async start(testSystem: TestSystem, identity: ReceiverOptions['identity']): Promise<HonestPerson> {
    const { token } = await testSystem.person('Neighbor');
    await using opening = new AsyncDisposableStack();
    const person = opening.use(new HonestPerson());
    await person.#worker.do({ do: 'open', baseUrl: testSystem.baseUrl, token, identity });
    opening.move();
    return person;
  }

  begin(): Promise<void> {
    return this.#worker.do({ do: 'begin' });
  }

  /** Resolves when every request has its response. */
  end(): Promise<void> {
    return this.#worker.do({ do: 'end' });
  }

  /** The samples since the last call. */
  take(): Promise<readonly RequestSample[]> {
    return this.#worker.do({ do: 'take' });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#worker[Symbol.asyncDispose]();
  }
}

import type { TestSystem } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Experience, Order } from './control-client-worker.ts';

/**
 * A person of another workspace who makes one change after the other during the storm. In a thread of its own, so that what
 * it waits for is the system and not the work of the storm's clients.
 */
export class ControlClient implements AsyncDisposable {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  static async settle(testSystem: TestSystem): Promise<ControlClient> {
    const { userId, token } = await testSystem.person('ControlClient');
    const workspaceId = randomUUID();
    const urlKey = `elsewhere-${workspaceId.slice(0, 8)}`;
    await testSystem.commit([
      { modelName: 'Workspace', modelId: workspaceId, action: 'INSERT', payload: { name: 'Elsewhere', urlKey } },
      {
        modelName: 'WorkspaceMember',
        modelId: randomUUID(),
        action: 'INSERT',
        payload: { workspaceId, userId, role: 'owner' },
      },
    ]);
    const workerData = { token, workspaceId };
    return new ControlClient(new Worker(new URL('control-client-worker.ts', import.meta.url), { workerData }));
  }

  /** Works at a door until it is called off, and tells what it met. */
  work(door: string): { callOff: () => Promise<Experience> } {
    this.#order({ work: door });
    return {
      callOff: async () => {
        const told = once(this.#worker, 'message');
        this.#order({ work: null });
        const [experience] = (await told) as [Experience];
        return experience;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  #order(order: Order): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(order);
  }
}

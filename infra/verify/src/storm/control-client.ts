import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { CheckedSystem } from '../checked-system.ts';
import type { ControlCommand, ControlResult } from './control-client-worker.ts';

/**
 * A person of another workspace who makes one change after another during the storm. It runs in a separate thread, so that
 * only the system delays it, and not the work of the storm's clients.
 */
export class ControlClient implements AsyncDisposable {
  readonly #worker: Worker;

  private constructor(worker: Worker) {
    this.#worker = worker;
  }

  static async start(testSystem: CheckedSystem): Promise<ControlClient> {
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

  /** Writes at an address until it is stopped. */
  write(baseUrl: string): { stop: () => Promise<ControlResult> } {
    this.#post({ writeTo: baseUrl });
    return {
      stop: async () => {
        const message = once(this.#worker, 'message');
        this.#post({ writeTo: null });
        const [result] = (await message) as [ControlResult];
        return result;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  #post(command: ControlCommand): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(command);
  }
}

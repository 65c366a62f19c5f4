import { Worker } from '@wts/testkit/worker';
import type { CheckedSystem } from '../checked-system.ts';
import { ownerElsewhere } from '../owner-elsewhere.ts';
import type { ControlCommand, ControlResult } from './control-client-worker.ts';

/**
 * A person of another workspace who makes one change after another during the storm, in a separate process, so that only the
 * system delays them, and not the work of the storm's clients.
 */
export class ControlClient implements AsyncDisposable {
  readonly #worker = new Worker<ControlCommand>(new URL('control-client-worker.ts', import.meta.url));
  readonly #author: { readonly token: string; readonly workspaceId: string };

  private constructor(author: { readonly token: string; readonly workspaceId: string }) {
    this.#author = author;
  }

  static async start(testSystem: CheckedSystem): Promise<ControlClient> {
    const { token, workspaceId } = await ownerElsewhere(testSystem, 'ControlClient');
    return new ControlClient({ token, workspaceId });
  }

  /** Writes at an address until it is stopped. */
  write(baseUrl: string): { stop: () => Promise<ControlResult> } {
    const begun = this.#worker.do({ do: 'write', baseUrl, ...this.#author });
    return {
      stop: async () => {
        await begun;
        return this.#worker.do({ do: 'stop' });
      },
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#worker[Symbol.asyncDispose]();
  }
}

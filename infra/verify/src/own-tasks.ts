import type { SyncTransaction } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { send } from './load/writers.ts';
import type { System } from './target.ts';

const TRANSACTIONS_MAX = 100;
const REMOVE_MS_MAX = 15_000;
const RETRY_MS = 250;

/** The tasks that an audit writes so that something happens. They are deleted for good when it ends. */
export class OwnTasks {
  readonly #system: System;
  readonly #clientId = 'verify-log';
  readonly #ids = new Set<string>();

  constructor(system: System) {
    this.#system = system;
  }

  async write(workspaceId: string): Promise<void> {
    const modelId = randomUUID();
    const payload = { workspaceId, title: 'Written by verify:log' };
    const results = await this.#send([{ ...this.#transaction(modelId), action: 'INSERT', payload }]);
    // Also a task whose answer was lost: it may exist.
    this.#ids.add(modelId);
    const refused = results?.find(({ success }) => !success);
    if (refused !== undefined) throw new Error(`--writes: a change was refused: ${refused.error}`);
  }

  /** Waits a while for a system that is away. Returns how many are left; the next call tries those again. */
  async remove(): Promise<number> {
    const deadlineMs = performance.now() + REMOVE_MS_MAX;
    while (this.#ids.size > 0 && performance.now() < deadlineMs) {
      const ids = [...this.#ids].slice(0, TRANSACTIONS_MAX);
      const results = await this.#send(
        ids.map((modelId) => ({ ...this.#transaction(modelId), action: 'DELETE', payload: {} })),
      );
      // A refusal means that the task was never written, or that another client deleted it.
      if (results !== null) for (const id of ids) this.#ids.delete(id);
      else await pause(RETRY_MS);
    }
    return this.#ids.size;
  }

  #transaction(modelId: string): Pick<SyncTransaction, 'clientTxId' | 'clientId' | 'modelName' | 'modelId'> {
    return { clientTxId: randomUUID(), clientId: this.#clientId, modelName: 'Task', modelId };
  }

  #send(transactions: readonly SyncTransaction[]): ReturnType<typeof send> {
    return send(this.#system.baseUrl, this.#system.token, transactions);
  }
}

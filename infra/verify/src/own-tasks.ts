import type { SyncTransaction } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { send } from './load/writers.ts';
import type { Account } from './followers.ts';

const TRANSACTIONS_MAX = 100;
const REMOVE_MS_MAX = 15_000;
const RETRY_MS = 250;

/** The tasks that an audit writes to produce changes. It deletes them for good at the end. */
export class OwnTasks {
  readonly #system: Account;
  readonly #clientId = 'verify-log';
  readonly #ids = new Set<string>();

  constructor(system: Account) {
    this.#system = system;
  }

  async write(workspaceId: string): Promise<void> {
    const modelId = randomUUID();
    const payload = { workspaceId, title: 'Written by verify:log' };
    const results = await this.#send([{ ...this.#transaction(modelId), action: 'INSERT', payload }]);
    // A task whose response was lost may exist.
    this.own(modelId);
    const refused = results?.find(({ success }) => !success);
    if (refused !== undefined) throw new Error(`--writes: the service refused a task: ${refused.error}`);
  }

  /** Deletes this one, too. */
  own(modelId: string): void {
    this.#ids.add(modelId);
  }

  /** Retries for a while when the system is unavailable. Resolves to the number of tasks that are left for the next call. */
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

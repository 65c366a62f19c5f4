import { apiKeyApi } from '@wts/contracts';
import { sendRequest, signToken, type Issuer, type Reply, type RequestContent } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newTask } from '../load/writers.ts';
import type { Installation } from './installation.ts';

const PAUSE_MS = 40;
/** A person may have a hundred API keys. */
const KEY_EVERY_MS = 4_000;
/** When a request with an Idempotency-Key is sent again: then a step has passed for some of the processes. */
const REPEATED_AFTER_MS = 20_000;

/** Requests of every kind that depends on a secret, all the time. */
export class Requests {
  readonly #installation: Installation;
  /** With which the identity provider signs. */
  issuer: Issuer;
  sent = 0;
  readonly taskIds: string[] = [];
  readonly failures: string[] = [];
  #keyAtMs = -Infinity;
  readonly #repeated: { readonly key: string; readonly id: string; readonly at: number }[] = [];

  constructor(installation: Installation) {
    this.#installation = installation;
    this.issuer = installation.system.jwt;
  }

  /** Until `stop` is aborted: three callers. */
  async run(stop: AbortSignal): Promise<void> {
    const kinds = [() => this.#write(), () => this.#readAsSession(), () => this.#query(), () => this.#createKey()];
    const call = async (from: number): Promise<void> => {
      for (let turn = from; !stop.aborted; turn += 1) {
        const kind = kinds[turn % kinds.length];
        try {
          await kind?.();
        } catch (error) {
          const { message, cause } = error as Error;
          this.failures.push(cause instanceof Error ? `${message}: ${cause.message}` : message);
        }
        this.sent += 1;
        await sleep(PAUSE_MS);
      }
    };
    await Promise.all([0, 1, 2].map(call));
  }

  async #send(token: string, method: string, path: string, content?: RequestContent): Promise<Reply> {
    const { gateways } = this.#installation;
    const baseUrl = [...gateways][this.sent % gateways.size] ?? '';
    const reply = await sendRequest({ baseUrl, token }, method, path, content);
    if (reply.status >= 300)
      throw new Error(`${method} ${path}: ${reply.status} ${reply.text.replace(/,"requestId.*/, '')}`);
    return reply;
  }

  /** gateway, sync, webhook-dispatcher; auth resolves the key. */
  async #write(): Promise<void> {
    const { apiKey, workspaceId } = this.#installation.system;
    const transaction = newTask({ workspaceId, title: 'While secrets change' }, 'secrets');
    const reply = await this.#send(apiKey, 'POST', '/sync/mutate', {
      body: { batchId: randomUUID(), transactions: [transaction] },
    });
    const { success } = reply.json() as { success: boolean };
    if (!success) throw new Error(reply.text);
    this.taskIds.push(transaction.modelId);
  }

  /** The secret of an issuer; workspace. */
  async #readAsSession(): Promise<void> {
    await this.#send(signToken(this.issuer, 'session', { name: 'Session' }), 'GET', '/api/workspaces');
  }

  async #query(): Promise<void> {
    const body = { query: '{ viewer { name } }' };
    const { errors } = (await this.#send(this.#installation.system.apiKey, 'POST', '/graphql', { body })).json() as {
      errors?: unknown;
    };
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
  }

  /** REPLAY_SECRET of auth: the request is sent again later, and must get the reply of the first time. */
  async #createKey(): Promise<void> {
    const now = performance.now();
    const due = this.#repeated.findIndex(({ at }) => now - at > REPEATED_AFTER_MS);
    // Taken out at once, because the callers do not wait for each other.
    const [repeat] = due === -1 ? [] : this.#repeated.splice(due, 1);
    if (repeat === undefined && now - this.#keyAtMs < KEY_EVERY_MS) return;
    this.#keyAtMs = now;
    const key = repeat?.key ?? randomUUID();
    const { apiKey } = this.#installation.system;
    const reply = await this.#send(apiKey, 'POST', apiKeyApi.createApiKey.path, {
      body: { label: 'while secrets change' },
      headers: { 'idempotency-key': key },
    });
    const { id } = (reply.json() as { key: { id: string } }).key;
    if (repeat === undefined) this.#repeated.push({ key, id, at: now });
    else {
      if (repeat.id !== id) throw new Error('a repeated request created a second API key');
    }
  }
}

import type { ActionName, MutateReply } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';

export interface Asked {
  readonly body?: string | Buffer;
  /** Ends the request, and with it the connection, as a client does that leaves. */
  readonly signal?: AbortSignal;
  /** Instead of one's own. */
  readonly token?: string;
  /** Of the answer. */
  readonly encoding?: 'gzip';
}

export interface Transaction {
  readonly action: ActionName;
  readonly modelName: string;
  readonly modelId: string;
  readonly payload?: { readonly [field: string]: unknown };
}

/** Part of every text these people write: no log of a server may hold it. */
export const CONTENT_MARK = 'CONTENT-OF-A-RECORD';

const ANSWER_MS = 15_000;
const AT_ONCE = 4;
const AGAIN_MS = 500;
const TRIES_MAX = 120;

/** One person at the public door, with a connection for each request that is under way, up to a bound. */
export class Caller implements AsyncDisposable {
  readonly baseUrl: string;
  readonly token: string;
  readonly #pool: Pool;

  constructor(baseUrl: string, token: string, connections: number) {
    this.baseUrl = baseUrl;
    this.token = token;
    const patience = { headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS, connect: { timeout: ANSWER_MS } };
    this.#pool = new Pool(baseUrl, { connections, pipelining: 1, ...patience });
  }

  /** An answer, read whole. */
  async ask(method: string, path: string, asked: Asked = {}): Promise<{ status: number; text: string }> {
    const { statusCode, body } = await this.#request(method, path, asked);
    return { status: statusCode, text: await body.text() };
  }

  /** The status of an answer that is read and thrown away. */
  async status(method: string, path: string, asked: Asked = {}): Promise<number> {
    const { statusCode, body } = await this.#request(method, path, asked);
    await body.dump({ limit: Number.MAX_SAFE_INTEGER });
    return statusCode;
  }

  /** Sends the same changes again until they are decided; throws when one of them is refused. */
  async commit(transactions: readonly Transaction[]): Promise<MutateReply> {
    const body = bodyOf(transactions);
    for (let tries = 1; ; tries += 1) {
      const { status, text } = await this.ask('POST', '/sync/mutate', { body });
      if (status === 200) {
        const reply = JSON.parse(text) as MutateReply;
        if (reply.success) return reply;
      }
      if (status < 429 || tries === TRIES_MAX)
        throw new Error(`/sync/mutate answered ${status}: ${text.slice(0, 300)}`);
      await pause(AGAIN_MS);
    }
  }

  async insert(modelName: string, payload: Transaction['payload'] = {}): Promise<string> {
    const modelId = randomUUID();
    await this.commit([{ action: 'INSERT', modelName, modelId, payload }]);
    return modelId;
  }

  /** So many records of one kind, `each` in a request. */
  async insertMany(count: number, each: number, one: Pick<Transaction, 'modelName' | 'payload'>): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    const left = ids.map((modelId) => ({ action: 'INSERT' as const, modelId, ...one }));
    const sending = Array.from({ length: AT_ONCE }, async () => {
      while (left.length > 0) await this.commit(left.splice(0, each));
    });
    await Promise.all(sending);
    return ids;
  }

  async openWorkspace(): Promise<string> {
    const body = JSON.stringify({ name: CONTENT_MARK, urlKey: `w-${randomUUID().slice(0, 13)}` });
    const { status, text } = await this.ask('POST', '/api/workspaces', { body });
    if (status !== 201) throw new Error(`/api/workspaces answered ${status}: ${text}`);
    return (JSON.parse(text) as { workspace: { id: string } }).workspace.id;
  }

  async userId(): Promise<string> {
    const { text } = await this.ask('GET', '/sync/bootstrap?onlyModels=User');
    const { subscribedSyncGroups } = JSON.parse(text.split('\n')[0] ?? '') as { subscribedSyncGroups: string[] };
    return subscribedSyncGroups[0] ?? '';
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.destroy();
  }

  #request(method: string, path: string, asked: Asked): ReturnType<Pool['request']> {
    const { body, signal, token = this.token, encoding } = asked;
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(encoding && { 'accept-encoding': encoding }),
    };
    return this.#pool.request({ method, path, headers, ...(body && { body }), ...(signal && { signal }) });
  }
}

export function bodyOf(transactions: readonly Transaction[]): string {
  const common = { clientId: 'device', payload: {} };
  return JSON.stringify({
    batchId: randomUUID(),
    transactions: transactions.map((one) => ({ clientTxId: randomUUID(), ...common, ...one })),
  });
}

const NONCE = 'ffffffff';
const hex8 = (): string => randomUUID().slice(0, 8);

/** An id that is another one in each use of a `template`. */
export const freshId = (): string => NONCE + randomUUID().slice(8);

/** A body that is made once, because making it costs as much as reading it; each use names new transactions. */
export function template(transactions: readonly Transaction[]): () => string {
  const text = bodyOf(transactions.map((one) => ({ clientTxId: freshId(), ...one })));
  return () => text.replaceAll(NONCE, hex8());
}

import type { ActionName, MutateReply } from '@wts/contracts';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';

export interface RequestOptions {
  readonly body?: string | Buffer;
  /** Aborts the request and closes its connection. */
  readonly signal?: AbortSignal;
  /** Instead of the caller's own token. */
  readonly token?: string;
  /** Of the response. */
  readonly encoding?: 'gzip';
}

interface Connecting {
  readonly connections: number;
  /** The address on this machine from which it connects: its network. */
  readonly localAddress?: string;
}

export interface Transaction {
  readonly action: ActionName;
  readonly modelName: string;
  readonly modelId: string;
  readonly payload?: { readonly [field: string]: unknown };
}

/** Part of every text that attackers and honest people write. No server log may contain it. */
export const CONTENT_MARK = 'CONTENT-OF-A-RECORD';

const TIMEOUT_MS = 15_000;
const PARALLEL = 4;
const RETRY_MS = 500;
const ATTEMPTS_MAX = 120;

/** One person at the public API, with a connection for each concurrent request, up to a maximum. */
export class HttpCaller implements AsyncDisposable {
  readonly baseUrl: string;
  readonly token: string;
  readonly #pool: Pool;

  constructor(baseUrl: string, token: string, { connections, localAddress }: Connecting) {
    this.baseUrl = baseUrl;
    this.token = token;
    const from = localAddress === undefined ? {} : { localAddress };
    const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, connect: { timeout: TIMEOUT_MS } };
    this.#pool = new Pool(baseUrl, { connections, pipelining: 1, ...from, ...timeouts });
  }

  async request(method: string, path: string, options: RequestOptions = {}): Promise<{ status: number; text: string }> {
    const { statusCode, body } = await this.#send(method, path, options);
    return { status: statusCode, text: await body.text() };
  }

  /** Reads and discards the body. */
  async status(method: string, path: string, options: RequestOptions = {}): Promise<number> {
    const { statusCode, body } = await this.#send(method, path, options);
    await body.dump({ limit: Number.MAX_SAFE_INTEGER });
    return statusCode;
  }

  /** Retries the same changes until the service has decided them; throws when it refuses one. */
  async commit(transactions: readonly Transaction[]): Promise<MutateReply> {
    const body = bodyOf(transactions);
    for (let attempt = 1; ; attempt += 1) {
      const { status, text } = await this.request('POST', '/sync/mutate', { body });
      if (status === 200) {
        const reply = JSON.parse(text) as MutateReply;
        if (reply.success) return reply;
      }
      if (status < 429 || attempt === ATTEMPTS_MAX)
        throw new Error(`/sync/mutate answered ${status}: ${text.slice(0, 300)}`);
      await pause(RETRY_MS);
    }
  }

  async insert(modelName: string, payload: Transaction['payload'] = {}): Promise<string> {
    const modelId = randomUUID();
    await this.commit([{ action: 'INSERT', modelName, modelId, payload }]);
    return modelId;
  }

  /** Inserts `count` records of one model, `perRequest` in each request. */
  async insertMany(
    count: number,
    perRequest: number,
    one: Pick<Transaction, 'modelName' | 'payload'>,
  ): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID());
    const left = ids.map((modelId) => ({ action: 'INSERT' as const, modelId, ...one }));
    const sending = Array.from({ length: PARALLEL }, async () => {
      while (left.length > 0) await this.commit(left.splice(0, perRequest));
    });
    await Promise.all(sending);
    return ids;
  }

  async createWorkspace(): Promise<string> {
    const body = JSON.stringify({ name: CONTENT_MARK, urlKey: `w-${randomUUID().slice(0, 13)}` });
    const { status, text } = await this.request('POST', '/api/workspaces', { body });
    if (status !== 201) throw new Error(`/api/workspaces answered ${status}: ${text}`);
    return (JSON.parse(text) as { workspace: { id: string } }).workspace.id;
  }

  async userId(): Promise<string> {
    const { text } = await this.request('GET', '/sync/bootstrap?onlyModels=User');
    const { subscribedSyncGroups } = JSON.parse(text.split('\n')[0] ?? '') as { subscribedSyncGroups: string[] };
    return subscribedSyncGroups[0] ?? '';
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool.destroy();
  }

  #send(method: string, path: string, options: RequestOptions): ReturnType<Pool['request']> {
    const { body, signal, token = this.token, encoding } = options;
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

/** An id that differs in each use of a `template`. */
export const freshId = (): string => NONCE + randomUUID().slice(8);

/** Builds a body once, because that costs as much CPU as parsing it. Each call returns it with new transaction ids. */
export function template(transactions: readonly Transaction[]): () => string {
  const text = bodyOf(transactions.map((one) => ({ clientTxId: freshId(), ...one })));
  return () => text.replaceAll(NONCE, hex8());
}

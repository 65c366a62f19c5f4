import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { apiKeyApi, graphqlApi, mcpApi, memberApi, webhookApi, workspaceApi, type MutateReply } from '@wts/contracts';
import { UserError } from '@wts/local';
import { request } from 'undici';
import { newTask } from '../load/writers.ts';
import { OwnTasks } from '../own-tasks.ts';
import type { PublicSystem } from '../running-system.ts';

/** Above UPSTREAM_TIMEOUT_MS of the gateway, so that its answer is seen. */
const TIMEOUT_MS = 30_000;

export interface Sample {
  readonly tookMs: number;
  /** 503 with Retry-After, which clients send again: all that an upgrade may answer besides what was asked for. */
  readonly isRefused: boolean;
  /** Null: no other failure. */
  readonly fault: string | null;
}

/** Requests that together need every service, by kept connections and by new ones in turn. None is sent again. */
export class Traffic {
  /** The positions of all changes that were acknowledged. */
  readonly written: string[] = [];
  readonly #system: PublicSystem;
  readonly #workspaceId: string;
  readonly #tasks: OwnTasks;
  readonly #reads: readonly (() => Promise<unknown>)[];
  #samples: Sample[] = [];
  #sent = 0;

  constructor(system: PublicSystem, workspaceId: string) {
    this.#system = system;
    this.#workspaceId = workspaceId;
    this.#tasks = new OwnTasks(system);
    const { baseUrl, authUrl } = system;
    const get = (path: string) => () => this.#send('GET', `${baseUrl}${path}`);
    this.#reads = [
      () => this.#send('GET', `${baseUrl}/sync/deltas?after=${this.written.at(-1) ?? '0'}&limit=1`),
      () => this.#send('POST', `${baseUrl}${graphqlApi.query.path}`, { query: '{ tasks(first: 1) { nodes { id } } }' }),
      get(workspaceApi.listWorkspaces.path),
      get(memberApi.listMembers.path.replace('{workspaceId}', workspaceId)),
      get(apiKeyApi.listApiKeys.path),
      get(`${webhookApi.listEndpoints.path}?workspaceId=${workspaceId}`),
      () =>
        this.#send('POST', `${authUrl}${mcpApi.call.path}`, {
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'whoami' },
        }),
    ];
  }

  /** Sends a request of each kind, so that a wrong address or key is no finding. */
  async tryEach(): Promise<void> {
    for (const kind of [() => this.#write(), ...this.#reads])
      await kind().catch((cause: unknown) => {
        throw new UserError(`A request failed before the first command: ${(cause as Error).message}`, { cause });
      });
  }

  /** Until `stop` is aborted. A request that takes long does not delay the next one. */
  async run(perSecond: number, stop: AbortSignal): Promise<void> {
    const open = new Set<Promise<void>>();
    while (!stop.aborted) {
      const one = this.#measure(this.#sent % 2 === 0 ? () => this.#write() : this.#nextRead());
      open.add(one);
      void one.finally(() => open.delete(one));
      this.#sent += 1;
      await pause(1000 / perSecond);
    }
    await Promise.all(open);
  }

  /** The requests that ended since the last call. */
  take(): Sample[] {
    const taken = this.#samples;
    this.#samples = [];
    return taken;
  }

  /** Resolves to the number of tasks that are left. */
  removeTasks(): Promise<number> {
    return this.#tasks.remove();
  }

  #nextRead(): () => Promise<unknown> {
    return this.#reads[Math.floor(this.#sent / 2) % this.#reads.length] as () => Promise<unknown>;
  }

  async #measure(kind: () => Promise<unknown>): Promise<void> {
    const beganMs = performance.now();
    let outcome: Omit<Sample, 'tookMs'> = { isRefused: false, fault: null };
    try {
      await kind();
    } catch (error) {
      outcome =
        error instanceof Refusal ? { isRefused: true, fault: null } : { isRefused: false, fault: String(error) };
    }
    this.#samples.push({ ...outcome, tookMs: performance.now() - beganMs });
  }

  async #write(): Promise<void> {
    const modelId = randomUUID();
    this.#tasks.own(modelId);
    const task = { workspaceId: this.#workspaceId, title: 'Written by verify:during' };
    const transaction = newTask(task, 'verify-during', { modelId });
    const body = { batchId: randomUUID(), transactions: [transaction] };
    const text = await this.#send('POST', `${this.#system.baseUrl}/sync/mutate`, body);
    const [result] = (JSON.parse(text) as MutateReply).results;
    if (result?.success !== true) throw new Error(text);
    this.written.push(result.syncId ?? '');
  }

  async #send(method: 'GET' | 'POST', url: string, body?: object): Promise<string> {
    const headers = {
      authorization: `Bearer ${this.#system.token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
    const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS };
    const content = body === undefined ? null : JSON.stringify(body);
    const reply = await request(url, { method, headers, body: content, reset: this.#sent % 4 < 2, ...timeouts });
    const text = await reply.body.text();
    if (reply.statusCode === 503 && reply.headers['retry-after'] !== undefined) throw new Refusal(text);
    if (reply.statusCode !== 200 || text.includes('"errors"'))
      throw new Error(`${method} ${new URL(url).pathname}: ${reply.statusCode} ${text}`);
    return text;
  }
}

class Refusal extends Error {}

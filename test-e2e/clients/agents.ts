import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
  UnauthorizedError as ModernUnauthorized,
} from '@modelcontextprotocol/client';
import { UnauthorizedError as LegacyUnauthorized } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TestSystem } from '@wts/testkit';
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MemoryProvider } from '../test/memory-provider.ts';
import { Person } from './person.ts';

const INFO = { name: 'wts-agent', version: '1.0.0' };
const TASKS_OF_CALL = 2;
/** What a refused caller may repeat, as the answer says. */
const REPEATABLE = ['unavailable', 'rate_limited', 'deadline_exceeded'];

interface Item {
  readonly ok: boolean;
  readonly task?: { readonly id: string };
  readonly error?: { readonly code: string };
}

interface Sample {
  readonly tool: string;
  readonly tookMs: number;
}

/** What all agents of a run did. */
export class AgentReport {
  readonly samples: Sample[] = [];
  readonly created = new Map<string, string>();
  readonly completed = new Set<string>();
  readonly errors = new Map<string, number>();
  repeats = 0;

  fail(what: string): void {
    this.errors.set(what, (this.errors.get(what) ?? 0) + 1);
  }
}

/** An agent of one person, which found the server by its address alone, registered itself and was allowed. */
export class Agent {
  readonly name: string;
  readonly #client: ModernClient | LegacyClient;
  readonly #provider: MemoryProvider;

  private constructor(name: string, client: ModernClient | LegacyClient, provider: MemoryProvider) {
    this.name = name;
    this.#client = client;
    this.#provider = provider;
  }

  static async connect(system: TestSystem, code: string, index: number): Promise<Agent> {
    const person = await Person.join(system, code, index);
    const provider = new MemoryProvider('http://127.0.0.1:8977/callback');
    const fetchFrom: typeof fetch = (input, init) => {
      const headers = new Headers(init?.headers);
      for (const [name, value] of Object.entries(person.network)) headers.set(name, value);
      return fetch(input, { ...init, headers });
    };
    const isModern = index % 2 === 0;
    const url = new URL('/mcp', system.authUrl);
    const options = { authProvider: provider, fetch: fetchFrom } as never;
    const transport = (): ModernTransport | LegacyTransport =>
      isModern ? new ModernTransport(url, options) : new LegacyTransport(url, options);
    const connect = async (): Promise<ModernClient | LegacyClient> => {
      const client = isModern ? new ModernClient(INFO) : new LegacyClient(INFO);
      await client.connect(transport());
      return client;
    };
    await assert.rejects(connect(), isModern ? ModernUnauthorized : LegacyUnauthorized);
    const { searchParams } = await person.allow(provider.asked());
    // The first generation of the SDK takes the code only.
    await transport().finishAuth((isModern ? searchParams : searchParams.get('code')) as never);
    return new Agent(`agent ${index}`, await connect(), provider);
  }

  get accessToken(): string {
    return this.#provider.stored().access_token;
  }

  /** Creates tasks and completes them until it is stopped. Its first access token expires after the first tasks. */
  async work(report: AgentReport, stop: AbortSignal): Promise<void> {
    for (let round = 0; !stop.aborted; round += 1) {
      const titles = Array.from({ length: TASKS_OF_CALL }, (_, item) => `${this.name}, round ${round}, task ${item}`);
      const tasks = titles.map((title) => ({ title, assignee: 'me' }));
      const created = await this.#call(report, 'create_tasks', { tasks, idempotencyKey: randomUUID() });
      const ids = created.flatMap(({ task }) => (task === undefined ? [] : [task.id]));
      created.forEach(({ task }, item) => task && report.created.set(task.id, titles[item] ?? ''));
      if (round === 0) this.#provider.spoilAccessToken();
      if (ids.length === 0) continue;
      const completed = await this.#call(report, 'complete_tasks', { tasks: ids });
      for (const { task } of completed) if (task !== undefined) report.completed.add(task.id);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** Repeats what the service refused for now, as its answer says. Anything else that fails is an error of the run. */
  async #call(report: AgentReport, name: string, args: Record<string, unknown>): Promise<readonly Item[]> {
    for (;;) {
      const startedMs = performance.now();
      const answer = await this.#client.callTool({ name, arguments: args }).catch((error: unknown) => error as Error);
      report.samples.push({ tool: name, tookMs: performance.now() - startedMs });
      const { items, refusals, retryAfterMs } = readAnswer(answer);
      if (refusals.some((code) => !REPEATABLE.includes(code))) {
        for (const code of refusals) report.fail(`${name}: ${code}`);
        return items;
      }
      if (refusals.length === 0) return items;
      report.repeats += 1;
      await pause(retryAfterMs);
    }
  }
}

interface ReadAnswer {
  readonly items: readonly Item[];
  readonly refusals: readonly string[];
  readonly retryAfterMs: number;
}

function readAnswer(answer: unknown): ReadAnswer {
  if (answer instanceof Error) return { items: [], refusals: [answer.message], retryAfterMs: 0 };
  const { isError, content, structuredContent } = answer as {
    isError?: boolean;
    content: [{ text: string }];
    structuredContent?: { results: Item[] };
  };
  const [{ text }] = content;
  const seconds = /Retry after (\d+) seconds/.exec(text)?.[1] ?? '1';
  const retryAfterMs = Number(seconds) * 1000;
  if (isError === true) return { items: [], refusals: [text.split(':', 1)[0] ?? text], retryAfterMs };
  const items = structuredContent?.results ?? [];
  return { items, refusals: items.flatMap(({ error }) => (error === undefined ? [] : [error.code])), retryAfterMs };
}

import { HEADERS, type Principal, type Scope } from '@wts/contracts';
import { startService, type RunningService } from '@wts/service-kit/life';
import { ABSENT_SERVICE, minterFor, serviceEnvironment, testDatabase, type TestDatabase } from '@wts/testkit';
import { randomUUID } from 'node:crypto';
import { graphService } from '../src/service.ts';

export interface GraphError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: { readonly code: string; readonly requestId?: string; readonly [name: string]: unknown };
}

export interface GraphAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers: Headers;
  readonly body: {
    readonly data?: Readonly<Record<string, unknown>> | null;
    readonly errors?: readonly GraphError[];
    readonly extensions?: Readonly<Record<string, unknown>>;
    /** Of an error of the API. */
    readonly code?: string;
    readonly message?: string;
  };
}

export interface GraphRequest {
  readonly principal?: Principal;
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the document: the whole body. */
  readonly body?: unknown;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly extensions?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** One graph service over a real database, without the services that it calls, unless a test gives their addresses. */
export class TestGraph implements AsyncDisposable {
  readonly database: TestDatabase;
  readonly service: RunningService;
  readonly logs: string[];
  readonly #owned: AsyncDisposableStack;

  private constructor(database: TestDatabase, service: RunningService, logs: string[], owned: AsyncDisposableStack) {
    this.database = database;
    this.service = service;
    this.logs = logs;
    this.#owned = owned;
  }

  static async open(
    label: string,
    settings: Readonly<Record<string, string>> = {},
    /** Leads the service to its database through something. */
    route: (databaseUrl: string) => string | Promise<string> = (url) => url,
  ): Promise<TestGraph> {
    await using opening = new AsyncDisposableStack();
    const database = opening.use(await testDatabase(label, { migrated: true }));
    const logs: string[] = [];
    const environment = serviceEnvironment('graph', {
      DATABASE_URL: await route(database.urlOf('wts_graph')),
      SYNC_SERVICE_URL: ABSENT_SERVICE,
      WORKSPACE_SERVICE_URL: ABSENT_SERVICE,
      AUTH_SERVICE_URL: ABSENT_SERVICE,
      CHECK_REPLIES: 'on',
      ...settings,
    });
    const service = await startService(graphService, environment, { logTo: { write: (line) => void logs.push(line) } });
    opening.defer(() => service.close());
    return new TestGraph(database, service, logs, opening.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }

  /** The headers of the gateway for a caller. */
  headersOf(principal: Principal): Record<string, string> {
    return { [HEADERS.principal]: minterFor('gateway', 'graph')(principal) };
  }

  async query(document: string | null, request: GraphRequest = {}): Promise<GraphAnswer> {
    const { principal = personWith('read', 'write'), headers = {}, variables, extensions, signal } = request;
    const body = request.body ?? { query: document ?? undefined, variables, extensions };
    const answer = await fetch(`${this.service.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.headersOf(principal), ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      type: answer.headers.get('content-type') ?? '',
      text,
      headers: answer.headers,
      body: JSON.parse(text) as GraphAnswer['body'],
    };
  }
}

/** A person who has signed in, with these scopes. */
export function personWith(...scopes: readonly Scope[]): Principal {
  return { userId: randomUUID(), scopes, credential: { kind: 'jwt', id: randomUUID() } };
}

/** The codes of the errors of an answer. */
export function codesOf({ body }: GraphAnswer): string[] {
  return (body.errors ?? []).map(({ extensions }) => extensions.code);
}

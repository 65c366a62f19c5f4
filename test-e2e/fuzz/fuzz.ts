import fc from 'fast-check';
import { Pool } from 'undici';
import { Description } from './description.ts';
import type { Operation, Schema } from './description.ts';
import type { FuzzRequest } from './requests.ts';
import { requestsOf } from './requests.ts';

export interface FuzzOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly seed: number;
  readonly runsPerOperation: number;
  /** Ids that exist. */
  readonly known: readonly string[];
}

export interface FuzzReport {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** One per operation that broke a rule, shrunk to the smallest request that still does. */
  readonly faults: readonly string[];
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly tookMs: number;
}

/** An answer may be late on a machine that does other things, never this late. */
const SLOW_MS = 5_000;
/** Sockets are no requests with answers; they have tests of their own. */
const LEFT_OUT: readonly string[] = ['syncSocket'];
/** What no caller may ever read: stacks, statements, addresses of our servers. */
const INNARDS = /node_modules|\bat .+\.[jt]s:\d+|\bselect .+ from |\binsert into |pg_|ECONN|INTERNAL_TOKEN/i;

/**
 * Asks every operation of `/openapi.json` with requests made from it, right ones and broken ones, and holds the answers
 * against it: never 5xx, a declared status and type, a body that fits, no success for what the description forbids, no
 * innards, and what was written can be read.
 */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const pool = new Pool(options.baseUrl, { connections: 8 });
  try {
    return await new Run(pool, options).all();
  } finally {
    await pool.close();
  }
}

class Run {
  readonly #pool: Pool;
  readonly #options: FuzzOptions;
  readonly #statuses: Record<string, number> = {};
  #requests = 0;

  constructor(pool: Pool, options: FuzzOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  async all(): Promise<FuzzReport> {
    const { text } = await this.#send('GET', '/openapi.json', {}, undefined);
    const description = new Description(JSON.parse(text));
    const tried = description.operations.filter(({ id }) => !LEFT_OUT.includes(id));
    const faults = await Promise.all(tried.map((operation) => this.#operation(operation, description)));
    return {
      requests: this.#requests,
      statuses: this.#statuses,
      faults: faults.filter((fault) => fault !== null),
    };
  }

  async #operation(operation: Operation, description: Description): Promise<string | null> {
    const { seed, runsPerOperation, known } = this.#options;
    const property = fc.asyncProperty(requestsOf(operation, description, known), async (request) => {
      const fault = await this.#try(operation, description, request);
      if (fault !== null) throw new Error(fault);
    });
    const details = await fc.check(property, { seed, numRuns: runsPerOperation, maxSkipsPerRun: 100 });
    if (!details.failed) return null;
    const cause = details.errorInstance instanceof Error ? details.errorInstance.message : 'failed';
    const example = JSON.stringify(details.counterexample?.[0]).slice(0, 600);
    return `${operation.id}: ${cause}\n  request ${example}\n  seed ${details.seed}, path ${details.counterexamplePath}`;
  }

  async #try(operation: Operation, description: Description, request: FuzzRequest): Promise<string | null> {
    const { path, headers, body } = request;
    const filled = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encode(path[name] ?? ''));
    const query = request.query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    const bytes = body === undefined ? undefined : 'text' in body ? body.text : body.bytes;
    const answer = await this.#send(operation.method, query === '' ? filled : `${filled}?${query}`, headers, bytes);
    return (
      faultOfAnswer(answer, operation, description) ??
      (answer.status < 300 ? this.#faultOfSuccess(operation, description, request, answer) : null)
    );
  }

  /** A success needs a request the description allows; and what was written can be read. */
  async #faultOfSuccess(
    operation: Operation,
    description: Description,
    { path, query, body }: FuzzRequest,
    answer: Answer,
  ): Promise<string | null> {
    for (const { in: place, name, schema } of operation.parameters) {
      const given = place === 'path' ? path[name] : query.find(([one]) => one === name)?.[1];
      const fault = given === undefined ? null : description.faultOf(schema, given);
      if (place !== 'header' && fault !== null) return `took a wrong ${name}: ${fault}`;
    }
    if (operation.body !== null) {
      const fault = faultOfBody(operation.body, description, body);
      if (fault !== null && !isRefused(answer)) return `took a wrong body: ${fault}`;
    }
    return this.#faultOfReadback(operation.id, path, answer);
  }

  async #faultOfReadback(id: string, path: Readonly<Record<string, string>>, answer: Answer): Promise<string | null> {
    const written = READ_BACK[id];
    if (written === undefined) return null;
    const { at, is } = written(JSON.parse(answer.text) as Reply, path);
    const { status, text } = await this.#send('GET', at, {}, undefined);
    if (status !== 200) return `what was written cannot be read: ${status} ${at}`;
    return is(text) ? null : `what was written is not what is read at ${at}`;
  }

  async #send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer | undefined,
  ): Promise<Answer> {
    const startedAt = performance.now();
    const answer = await this.#pool.request({
      method,
      path,
      headers: { ...headers, authorization: `Bearer ${this.#options.token}` },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.body.text();
    this.#requests += 1;
    this.#statuses[answer.statusCode] = (this.#statuses[answer.statusCode] ?? 0) + 1;
    return { status: answer.statusCode, headers: answer.headers, text, tookMs: performance.now() - startedAt };
  }
}

interface Reply {
  readonly workspace?: { readonly urlKey: string; readonly name: string };
  readonly invitation?: { readonly id: string };
  readonly key?: { readonly id: string };
}

/** Where a success can be seen, and how. */
const READ_BACK: Readonly<
  Record<
    string,
    (reply: Reply, path: Readonly<Record<string, string>>) => { at: string; is: (text: string) => boolean }
  >
> = {
  createWorkspace: ({ workspace }) => ({
    at: `/api/workspaces/by-slug/${workspace?.urlKey}`,
    is: (text) => (JSON.parse(text) as Reply).workspace?.name === workspace?.name,
  }),
  createInvitation: ({ invitation }, { workspaceId }) => ({
    at: `/api/workspaces/${workspaceId}/invitations`,
    is: (text) => text.includes(invitation?.id ?? '-'),
  }),
  deleteInvitation: (_, { workspaceId, invitationId = '' }) => ({
    at: `/api/workspaces/${workspaceId}/invitations`,
    is: (text) => !text.includes(invitationId.toLowerCase()),
  }),
  createApiKey: ({ key }) => ({ at: '/api/auth/keys', is: (text) => text.includes(key?.id ?? '-') }),
  revokeApiKey: (_, { keyId = '' }) => ({ at: '/api/auth/keys', is: (text) => !text.includes(keyId.toLowerCase()) }),
};

function faultOfAnswer(answer: Answer, { responses }: Operation, description: Description): string | null {
  const { status, headers, text, tookMs } = answer;
  const said = `${status} ${text.slice(0, 300)}`;
  if (status >= 500) return `answered ${said}`;
  const declared = responses[status];
  if (declared === undefined) return `answered an undeclared ${said}`;
  if (headers['api-version'] !== '1' || headers['x-request-id'] === undefined) return `left a header out: ${said}`;
  if (tookMs > SLOW_MS) return `took ${Math.round(tookMs)} ms: ${said}`;
  if (status >= 400 && INNARDS.test(text)) return `showed its innards: ${said}`;
  const type = String(headers['content-type']);
  const schema = declared.content?.[type]?.schema;
  if (schema === undefined) return `answered the undeclared type ${type}: ${said}`;
  if (type !== 'application/json') return null;
  const body = JSON.parse(text) as { statusCode?: number; message?: string };
  if (status >= 400 && body.statusCode !== status) return `has another statusCode: ${said}`;
  // A regular expression tells few what to change.
  if (status >= 400 && !/^\w(?!.*must match pattern).{8,}/.test(body.message ?? ''))
    return `says not what to do: ${said}`;
  const fault = description.faultOf(schema, body);
  return fault === null ? null : `answered what it does not declare (${fault}): ${said}`;
}

/** A transaction that is not as described is refused by its result, beside others that are taken. */
function isRefused({ text }: Answer): boolean {
  return text.startsWith('{"ok":true,"success":false,');
}

function faultOfBody(
  { schema, required }: { readonly schema: Schema; readonly required: boolean },
  description: Description,
  body: FuzzRequest['body'],
): string | null {
  if (body === undefined) return required ? 'there was none' : null;
  if ('bytes' in body) return body.bytes[0] === 0xef ? null : 'no UTF-8';
  if (body.text === '') return required ? 'empty' : null;
  try {
    return description.faultOf(schema, JSON.parse(body.text));
  } catch {
    return 'no JSON';
  }
}

/** Half a surrogate pair has no encoding; it is sent as the bytes it would have. */
function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

import fc from 'fast-check';
import { Pool } from 'undici';
import { Description, type ApiOperation, type Schema } from './description.ts';
import { requestsOf, type FuzzRequest } from './requests.ts';

export interface FuzzOptions {
  readonly baseUrl: string;
  readonly token: string;
  readonly seed: number;
  readonly runsPerOperation: number;
  /** Existing ids. */
  readonly known: readonly string[];
}

export interface FuzzReport {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** One per operation that broke a rule, with the smallest request that does. */
  readonly faults: readonly string[];
}

interface FuzzReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly tookMs: number;
}

/** No response takes this long, also not on a busy machine. */
const SLOW_MS = 5_000;
/** Other tests cover the socket. */
const LEFT_OUT: readonly string[] = ['syncSocket'];
/** Texts that no response may contain: stack traces, SQL, addresses of servers. */
const INTERNALS = /node_modules|\bat .+\.[jt]s:\d+|\bselect .+ from |\binsert into |pg_|ECONN|INTERNAL_TOKEN/i;

/**
 * Sends valid and broken requests to every operation of `/openapi.json` and checks the responses: no 5xx, a declared status and
 * type, a body that matches its schema, no success for a request that the description forbids, no internals, and a written
 * record can be read.
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
    return { requests: this.#requests, statuses: this.#statuses, faults: faults.filter((fault) => fault !== null) };
  }

  async #operation(operation: ApiOperation, description: Description): Promise<string | null> {
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

  async #try(operation: ApiOperation, description: Description, request: FuzzRequest): Promise<string | null> {
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

  /** A success needs a valid request, and the written record must be readable. */
  async #faultOfSuccess(
    operation: ApiOperation,
    description: Description,
    { path, query, body }: FuzzRequest,
    answer: FuzzReply,
  ): Promise<string | null> {
    for (const { in: place, name, schema } of operation.parameters) {
      const text = place === 'path' ? path[name] : query.find(([one]) => one === name)?.[1];
      const given = schema['type'] === 'integer' && /^\d+$/.test(text ?? '') ? Number(text) : text;
      const fault = given === undefined ? null : description.errorOf(schema, given);
      if (place !== 'header' && fault !== null) return `accepted a wrong ${name}: ${fault}`;
    }
    if (operation.body !== null) {
      const fault = faultOfBody(operation.body, description, body);
      if (fault !== null && !isRefused(answer)) return `accepted a wrong body: ${fault}`;
    }
    return this.#faultOfReadback(operation.id, path, answer);
  }

  async #faultOfReadback(
    id: string,
    path: Readonly<Record<string, string>>,
    answer: FuzzReply,
  ): Promise<string | null> {
    const written = READ_BACK[id];
    if (written === undefined) return null;
    const { at, is } = written(JSON.parse(answer.text) as Reply, path);
    const { status, text } = await this.#send('GET', at, {}, undefined);
    if (status !== 200) return `the written record cannot be read: ${status} ${at}`;
    return is(text) ? null : `the record at ${at} differs from the written one`;
  }

  async #send(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | Buffer | undefined,
  ): Promise<FuzzReply> {
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

/** How to read what an operation wrote. */
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

function faultOfAnswer(answer: FuzzReply, { responses }: ApiOperation, description: Description): string | null {
  const { status, headers, text, tookMs } = answer;
  const shown = `${status} ${text.slice(0, 300)}`;
  if (status >= 500) return `answered ${shown}`;
  const declared = responses[status];
  if (declared === undefined) return `answered an undeclared ${shown}`;
  if (headers['api-version'] !== '1' || headers['x-request-id'] === undefined) return `lacks a header: ${shown}`;
  if (tookMs > SLOW_MS) return `took ${Math.round(tookMs)} ms: ${shown}`;
  if (status >= 400 && INTERNALS.test(text)) return `showed internals: ${shown}`;
  const given = String(headers['content-type']);
  // GraphQL over HTTP names the charset of JSON.
  const type = declared.content?.[given] === undefined ? given.replace('; charset=utf-8', '') : given;
  const schema = declared.content?.[type]?.schema;
  if (schema === undefined) return `answered the undeclared type ${type}: ${shown}`;
  if (type !== 'application/json') return null;
  const body = JSON.parse(text) as { statusCode?: number; message?: string };
  if (status >= 400 && body.statusCode !== status) return `has another statusCode: ${shown}`;
  // A regular expression is no useful message for a user.
  if (status >= 400 && !/^\w(?!.*must match pattern).{8,}/.test(body.message ?? ''))
    return `does not say what to change: ${shown}`;
  const fault = description.errorOf(schema, body);
  return fault === null ? null : `does not match its schema (${fault}): ${shown}`;
}

/** A wrong transaction is refused in its result, with status 200. */
function isRefused({ text }: FuzzReply): boolean {
  return text.startsWith('{"ok":true,"success":false,');
}

function faultOfBody(
  { schema, required }: { readonly schema: Schema; readonly required: boolean },
  description: Description,
  body: FuzzRequest['body'],
): string | null {
  if (body === undefined) return required ? 'missing' : null;
  if ('bytes' in body) return body.bytes[0] === 0xef ? null : 'not UTF-8';
  if (body.text === '') return required ? 'empty' : null;
  try {
    return description.errorOf(schema, JSON.parse(body.text));
  } catch {
    return 'not JSON';
  }
}

/** A lone surrogate has no UTF-8 encoding; it is sent as the bytes that it would have. */
function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}

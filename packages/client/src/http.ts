import { SyncError, errorOf } from './error.ts';

/** Returns the credential for each call and each connection, so that it can be renewed. */
export type TokenSource = string | (() => string | Promise<string>);

export interface ServerOptions {
  /** The URL of the API, such as `https://api.example.com`. */
  readonly baseUrl: string;
  readonly token: TokenSource;
  /** Default: the `fetch` of the platform. */
  readonly fetch?: typeof fetch;
  /** Timeout of one attempt of a call, and of silence within a reply. Default 15 000. */
  readonly attemptMs?: number;
}

const ATTEMPT_MS = 15_000;

export interface HttpRequest {
  /** Default: POST with a body, GET without one. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Names that are in each reply to this request: where one is missing, another program answered, or another version. */
  readonly replyNames?: readonly string[];
}

/** Makes one attempt of a call; the caller decides about retries. */
export class Http {
  readonly baseUrl: string;
  readonly attemptMs: number;
  readonly #token: TokenSource;
  readonly #fetch: typeof fetch;

  constructor({ baseUrl, token, fetch = globalThis.fetch.bind(globalThis), attemptMs = ATTEMPT_MS }: ServerOptions) {
    if (!isHttpUrl(baseUrl))
      throw new TypeError('baseUrl must be the address of the API, such as https://api.example.com.');
    if (typeof token !== 'function' && (typeof token !== 'string' || token === ''))
      throw new TypeError('token must be an API key or access token, or a function that returns one.');
    this.baseUrl = baseUrl.replace(/\/$/, '');
    this.attemptMs = attemptMs;
    this.#token = token;
    this.#fetch = fetch;
  }

  async token(): Promise<string> {
    return typeof this.#token === 'string' ? this.#token : this.#token();
  }

  /** The whole reply as JSON, and the id of the request. */
  async exchange(
    path: string,
    signal: AbortSignal,
    request?: HttpRequest,
  ): Promise<{ readonly body: unknown; readonly requestId: string | undefined }> {
    const either = AbortSignal.any([signal, AbortSignal.timeout(this.attemptMs)]);
    const answer = await this.open(path, either, request);
    const body: unknown = await this.#attempt(either, () => answer.json());
    const requestId = answer.headers.get('x-request-id') ?? undefined;
    if (hasNames(body, request?.replyNames ?? [])) return { body, requestId };
    throw new SyncError('answer_invalid', notUnderstood(this.baseUrl), { status: answer.status, requestId });
  }

  async json<T>(path: string, signal: AbortSignal, request?: HttpRequest): Promise<T> {
    return (await this.exchange(path, signal, request)).body as T;
  }

  /** A reply with an unread body; the signal also ends reading it. */
  async open(path: string, signal: AbortSignal, { method, headers, body }: HttpRequest = {}): Promise<Response> {
    const request: RequestInit = {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        ...headers,
        authorization: `Bearer ${await this.token()}`,
        'api-version': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    return this.#attempt(signal, async () => {
      const answer = await this.#fetch(`${this.baseUrl}${path}`, request);
      if (!answer.ok) throw await errorOf(answer);
      return answer;
    });
  }

  /** Network errors of all platforms become one code. */
  async #attempt<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (cause instanceof SyncError) throw cause;
      if (cause instanceof SyntaxError) throw new SyncError('answer_invalid', 'The answer is not JSON', { cause });
      const what = signal.aborted ? 'No answer in time' : `The connection failed${crossOriginAdvice(this.baseUrl)}`;
      throw new SyncError('connection_failed', what, { cause });
    }
  }
}

function hasNames(body: unknown, names: readonly string[]): boolean {
  return typeof body === 'object' && body !== null && names.every((name) => Object.hasOwn(body, name));
}

export function notUnderstood(url: string): string {
  return `The answer of ${url} is not understood: it may be no Workspace Task Service, or one of another version`;
}

function isHttpUrl(text: unknown): boolean {
  return typeof text === 'string' && /^https?:/i.test(text) && URL.canParse(text);
}

/** A browser hides from its page whether the server did not answer or does not allow the origin of the page. */
function crossOriginAdvice(baseUrl: string): string {
  const origin = (globalThis as { location?: { origin?: string } }).location?.origin;
  if (origin === undefined || origin === new URL(baseUrl).origin) return '';
  return `. When the server runs, it may not allow this page: its setting CORS_ORIGINS must list ${origin}`;
}

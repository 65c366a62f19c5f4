import { SyncError } from '@wts/client/api';

/** Of a whole request, as other calls have it. */
const DEADLINE_MS = 30_000;

interface RequestOptions {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal;
  /** Makes it a POST. */
  readonly body?: object;
  /** What the answer has, where it is one of this service. */
  readonly names?: readonly string[];
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Those of a credential. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request outside of the API. Throws a `SyncError`, as the client does. */
export async function requestJson<T>(url: string, options: RequestOptions): Promise<T> {
  const { names = [] } = options;
  const answer = await request(url, options);
  const content: unknown = await answer.json().catch((cause: unknown) => {
    const message = `${new URL(url).origin} answered ${answer.status}, and not with JSON: it may be no Workspace Task Service.`;
    throw new SyncError('answer_invalid', message, { status: answer.status, cause });
  });
  const isUnderstood =
    typeof content === 'object' && content !== null && (!answer.ok || names.every((name) => name in content));
  if (!isUnderstood) {
    const message = `The answer of ${new URL(url).origin} is not understood: it may be no Workspace Task Service.`;
    throw new SyncError('answer_invalid', message, { status: answer.status });
  }
  if (answer.ok) return content as T;
  const { code, message, error, requestId } = content as Readonly<Record<string, string | undefined>>;
  const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN);
  throw new SyncError((code ?? 'answer_invalid') as SyncError['code'], message ?? error ?? 'No reason was given.', {
    status: answer.status,
    requestId,
    retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined,
  });
}

/** The answer, whatever its status. */
async function request(
  url: string,
  { fetch, signal, body, method = body === undefined ? 'GET' : 'POST', headers = {} }: RequestOptions,
): Promise<Response> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const sent: RequestInit = {
    method,
    signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    headers: {
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  return fetch(url, sent).catch((cause: unknown) => {
    if (cause instanceof SyncError) throw cause;
    throw new SyncError('connection_failed', `${new URL(url).origin} gave no answer.`, { cause });
  });
}

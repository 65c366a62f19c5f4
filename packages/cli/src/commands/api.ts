import { SyncError } from '@wts/client/api';
import type { Call } from '../call.ts';
import { usageFault } from '../fault.ts';
import { readField } from './graphql.ts';
import { readText } from './texts.ts';

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];
/** Of the whole request, as other calls have it. */
const DEADLINE_MS = 30_000;

/** The raw door: any operation of the description, with the credential of this profile and to its server only. */
export async function api(call: Call): Promise<void> {
  const { options, output } = call;
  const { server } = await call.session();
  const { method, path } = targetOf(call);
  const fields = Object.fromEntries(options.list('field').map((one) => readField(one, '--field')));
  const url = new URL(path, server.url);
  if (url.origin !== new URL(server.url).origin) throw usageFault(`${path} is no path of ${server.url}.`);
  const body = await bodyOf(call, method, fields);
  if (body === undefined) for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, String(value));
  if (options.flag('paginate') && method !== 'GET') throw usageFault('--paginate is for GET.');
  for (;;) {
    const { answer, text } = await send(call, url, method, body);
    const value = parsed(text);
    if (options.flag('include')) await output.text(headText(answer));
    if (value === undefined) await output.text(text);
    else await output.value(value);
    if (!answer.ok) throw faultOf(answer, value);
    const next = options.flag('paginate') ? nextPageOf(value) : null;
    if (next === null) return;
    for (const [name, cursor] of Object.entries(next)) url.searchParams.set(name, cursor);
  }
}

async function send(
  { session, options, signal }: Call,
  url: URL,
  method: string,
  body: string | undefined,
): Promise<{ readonly answer: Response; readonly text: string }> {
  const { server, token, fetch } = await session();
  const headers = {
    accept: 'application/json',
    'api-version': '1',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...Object.fromEntries(options.list('header').map(readHeader)),
    authorization: `Bearer ${token.value}`,
  };
  const request = { method, headers, signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]) };
  try {
    const answer = await fetch(url.href, { ...request, ...(body === undefined ? {} : { body }) });
    return { answer, text: await answer.text() };
  } catch (cause) {
    if (cause instanceof SyncError) throw cause;
    throw new SyncError('connection_failed', `${server.url} gave no answer.`, { cause });
  }
}

/** The parameter of the next page of a list, as the description has it; null after the last one. */
function nextPageOf(value: unknown): Readonly<Record<string, string>> | null {
  const { hasMore, lastSyncId, deliveries, ...lists } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const lastOf = (list: unknown): Readonly<Record<string, string>> | undefined =>
    Array.isArray(list) ? (list.at(-1) as Record<string, string>) : undefined;
  const before = lastOf(deliveries)?.['createdAt'];
  if (before !== undefined) return { before };
  if (hasMore !== true) return null;
  if (typeof lastSyncId === 'string') return { after: lastSyncId };
  const last = lastOf(Object.values(lists).find((list) => Array.isArray(list)));
  const after = last?.['userId'] ?? last?.['id'];
  return after === undefined ? null : { after };
}

function targetOf({ words }: Call): { readonly method: string; readonly path: string } {
  const [one = '', other] = words;
  const [method, path] = other === undefined ? ['GET', one] : [one.toUpperCase(), other];
  if (!METHODS.includes(method))
    throw usageFault(`${JSON.stringify(one)} is no method.`, `One of: ${METHODS.join(', ')}`);
  if (!path.startsWith('/')) throw usageFault('The path begins with a slash.', 'Such as: wts api /api/workspaces');
  return { method, path };
}

async function bodyOf({ options, io }: Call, method: string, fields: object): Promise<string | undefined> {
  const input = options.text('input');
  if (input !== undefined) return readText(input === '-' ? '-' : `@${input}`, io);
  return method === 'GET' || Object.keys(fields).length === 0 ? undefined : JSON.stringify(fields);
}

function readHeader(given: string): [string, string] {
  const at = given.indexOf(':');
  if (at <= 0) throw usageFault(`--header takes "name: value", not ${JSON.stringify(given)}.`);
  return [given.slice(0, at).toLowerCase(), given.slice(at + 1).trim()];
}

function headText({ status, headers }: Response): string {
  return [`HTTP ${status}`, ...[...headers].map(([name, value]) => `${name}: ${value}`), '', ''].join('\n');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** As the client reads errors, so that the exit code is the same. */
function faultOf({ status, headers }: Response, body: unknown): SyncError {
  const { code, message, error, requestId } = (body ?? {}) as Readonly<Record<string, string | undefined>>;
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  return new SyncError(
    (code ?? 'answer_invalid') as SyncError['code'],
    `${message ?? error ?? 'No reason was given'} (HTTP ${status})`,
    {
      status,
      requestId: requestId ?? headers.get('x-request-id') ?? undefined,
      retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : undefined,
    },
  );
}

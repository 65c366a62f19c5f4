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
  const { session, signal, output } = call;
  const { server, token, fetch } = await session();
  const { method, path } = targetOf(call);
  const fields = Object.fromEntries(call.options.list('field').map((one) => readField(one, '--field')));
  const url = new URL(path, server.url);
  if (url.origin !== new URL(server.url).origin) throw usageFault(`${path} is no path of ${server.url}.`);
  const body = await bodyOf(call, method, fields);
  if (body === undefined) for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, String(value));
  const headers = {
    accept: 'application/json',
    'api-version': '1',
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...Object.fromEntries(call.options.list('header').map(readHeader)),
    authorization: `Bearer ${token.value}`,
  };
  const request = { method, headers, signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]) };
  const answer = await fetch(url.href, { ...request, ...(body === undefined ? {} : { body }) }).catch(
    (cause: unknown) => {
      throw cause instanceof SyncError
        ? cause
        : new SyncError('connection_failed', `${server.url} gave no answer.`, { cause });
    },
  );
  const text = await answer.text();
  if (call.options.flag('include')) await output.text(headText(answer));
  const value = parsed(text);
  if (value === undefined) await output.text(text);
  else await output.value(value);
  if (!answer.ok) throw faultOf(answer, value);
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

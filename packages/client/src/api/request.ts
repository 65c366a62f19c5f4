import type { HttpRequest } from '../http.ts';
import type { CallOptions } from '../retry.ts';

export interface OperationOptions extends CallOptions {
  /** Of a creation: the same key gets the same reply for a day, also after a restart. Default: a new one for each call. */
  readonly idempotencyKey?: string;
}

export interface OperationRow {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly hasBody?: boolean;
  /** The server knows a repeated request by its `Idempotency-Key`. */
  readonly hasKey?: boolean;
  /** It deletes, and its reply has nothing but `ok`: a repeated request that finds nothing has the same result. */
  readonly isDeletion?: boolean;
  /** What each reply has. */
  readonly reply: readonly string[];
}

/** Names of the input that are in the path go there; the others into the body, or into the query where there is no body. */
export function requestOf(
  { method, path: template, hasBody = false, hasKey = false, reply: replyNames }: OperationRow,
  input: Readonly<Record<string, unknown>>,
  { idempotencyKey = crypto.randomUUID() }: OperationOptions,
): { readonly path: string; readonly request: HttpRequest; readonly isRepeatable: boolean } {
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = rest.get(name);
    // Without it, or with dots alone, the path would be that of another operation.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value)) throw new TypeError(`${name} must be an id or a name.`);
    rest.delete(name);
    return encodeURIComponent(value);
  });
  const headers = hasKey ? { 'idempotency-key': idempotencyKey } : {};
  const isRepeatable = method !== 'POST' || hasKey;
  if (hasBody) return { path, request: { method, headers, body: Object.fromEntries(rest), replyNames }, isRepeatable };
  const query = new URLSearchParams([...rest].map(([name, value]) => [name, String(value)])).toString();
  return { path: query === '' ? path : `${path}?${query}`, request: { method, headers, replyNames }, isRepeatable };
}

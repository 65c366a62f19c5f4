import { randomUUID } from 'node:crypto';
import { CliFault, usageFault } from '../fault.ts';
import { openFetch } from './fetch.ts';
import { requestJson } from './request.ts';
import { findServer, readAddress } from './server.ts';
import type { SessionParts } from './session.ts';
import { readSettings } from './settings.ts';

/** The operations of operators of one service. */
export interface OperatorApi {
  get<T>(path: string, query?: Readonly<Record<string, string | number | undefined>>): Promise<T>;
  post<T>(path: string, body?: object): Promise<T>;
  delete<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>;
  /** A long answer, as it arrives. */
  download(path: string): Promise<Response>;
}

const VARIABLE = 'WTS_OPERATOR_TOKEN';

/**
 * Opens the service as its operator. The token is of the environment alone: it is made on the machine of the service, and no profile
 * keeps it. It goes to where people of the service sign in, whose address the environment, the profile or the service itself names.
 */
export async function openOperator({
  io,
  options,
  output,
  signal,
}: SessionParts & { readonly signal: AbortSignal }): Promise<OperatorApi> {
  const token = io.env[VARIABLE] ?? '';
  if (token === '') {
    const hint = 'Make a token on the machine of the service: node services/auth/src/operator.ts token create <label>';
    throw new CliFault('sign-in', `${VARIABLE} is not set.`, { hint });
  }
  if (!/^wtsop_\w{49}$/.test(token)) throw usageFault(`${VARIABLE} is no operator token.`, 'It begins with wtsop_.');
  const fetch = openFetch({ io, output });
  const { url, authUrl } = await readSettings(io, options);
  if (url === null && authUrl === null)
    throw usageFault('Name the address of the API.', 'Set WTS_URL, such as https://api.example.com');
  const origin =
    authUrl === null
      ? (await findServer(readAddress(url?.value ?? ''), { fetch, signal })).authUrl
      : readAddress(authUrl.value);
  const authorization = `Bearer ${token}`;
  const addressOf = (path: string, query: Readonly<Record<string, string | number | undefined>> = {}): string => {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return `${origin}/operator${path}${given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`}`;
  };
  return {
    get: (path, query) => requestJson(addressOf(path, query), { fetch, signal, headers: { authorization } }),
    post: (path, body = {}) => {
      const headers = { authorization, 'idempotency-key': randomUUID() };
      return requestJson(addressOf(path), { fetch, signal, body, headers });
    },
    delete: (path, query) =>
      requestJson(addressOf(path, query), { fetch, signal, method: 'DELETE', headers: { authorization } }),
    download: async (path) => {
      const answer = await fetch(addressOf(path), { signal, headers: { authorization } });
      if (!answer.ok) await requestJson(addressOf(path), { fetch: async () => answer });
      return answer;
    },
  };
}

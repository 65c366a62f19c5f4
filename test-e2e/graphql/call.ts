import { sendRequest } from '@wts/testkit';
import assert from 'node:assert/strict';

export interface GraphqlAnswer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly (string | number)[];
    readonly extensions: { readonly code: string; readonly retryAfterSeconds?: number };
  }[];
}

/** Sends an operation as any client does; its errors are in the answer. */
export async function send(
  { baseUrl }: { readonly baseUrl: string },
  token: string | null,
  query: string,
  variables: object = {},
): Promise<GraphqlAnswer> {
  const { status, text } = await sendRequest({ baseUrl, token }, 'POST', '/graphql', { body: { query, variables } });
  assert.equal(status, 200, text);
  return JSON.parse(text) as GraphqlAnswer;
}

/** The fields of an operation that has no errors. */
export async function ask<Data = Record<string, never>>(
  host: { readonly baseUrl: string },
  token: string,
  query: string,
  variables: object = {},
): Promise<Data> {
  const { data, errors } = await send(host, token, query, variables);
  assert.deepEqual(errors ?? [], [], query);
  return data as Data;
}

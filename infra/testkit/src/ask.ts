/** An answer, read whole. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: () => unknown;
}

/**
 * A request as a client makes it: with a credential or, for null, without one. An object is sent as JSON and said to be;
 * of bytes and texts the test says itself what they are.
 */
export async function ask(
  door: string,
  token: string | null,
  method: string,
  path: string,
  body?: object | string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  const answer = await fetch(`${door}${path}`, {
    method,
    headers: {
      'accept-encoding': 'identity',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    body: body === undefined ? null : isJson ? JSON.stringify(body) : Buffer.from(body),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    text,
    json: () => JSON.parse(text) as unknown,
  };
}

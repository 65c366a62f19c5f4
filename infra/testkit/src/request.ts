/** An HTTP response with its whole body. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly json: () => unknown;
}

export interface RequestTarget {
  readonly baseUrl: string;
  /** Null: the request has no credential. */
  readonly token: string | null;
}

export interface RequestContent {
  /** An object is sent as JSON with its content type. For bytes and text the test sets the content type itself. */
  readonly body?: object | string | Buffer | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request as a client does. */
export async function sendRequest(
  { baseUrl, token }: RequestTarget,
  method: string,
  path: string,
  { body, headers = {} }: RequestContent = {},
): Promise<Reply> {
  const isJson = typeof body === 'object' && !Buffer.isBuffer(body);
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      'accept-encoding': 'identity',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(isJson ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    body: body === undefined ? null : isJson ? JSON.stringify(body) : Buffer.from(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    json: () => JSON.parse(text) as unknown,
  };
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * `pass`: as if the gate was not there. `hold`: the request never gets there, and there is no answer. `cut`: the service does the work,
 * and the connection ends without the answer. `limit`: 429 with `Retry-After: 1`.
 */
export type Verdict = 'pass' | 'hold' | 'cut' | 'limit';

/** An address in front of a service, at which requests can be lost. */
export interface Gate extends AsyncDisposable {
  readonly url: string;
  /** How many requests came for each path, without the query. */
  readonly counts: ReadonlyMap<string, number>;
}

/** `decide` gets the path, and how many requests for it came before. */
export async function openGate(to: string, decide: (path: string, before: number) => Verdict): Promise<Gate> {
  const counts = new Map<string, number>();
  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const path = new URL(req.url ?? '/', to).pathname;
    const before = counts.get(path) ?? 0;
    counts.set(path, before + 1);
    const verdict = decide(path, before);
    const body = await buffer(req);
    if (verdict === 'hold') return;
    if (verdict === 'limit') return limited(res);
    const { authorization = '', 'idempotency-key': key } = req.headers;
    const headers = {
      authorization,
      'api-version': '1',
      ...(body.length === 0 ? {} : { 'content-type': 'application/json' }),
      ...(typeof key === 'string' ? { 'idempotency-key': key } : {}),
    };
    const { method = 'GET' } = req;
    const reply = await fetch(`${to}${req.url}`, { method, headers, ...(body.length === 0 ? {} : { body }) });
    const bytes = Buffer.from(await reply.arrayBuffer());
    if (verdict === 'cut') return void res.socket?.resetAndDestroy();
    res.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') ?? 'application/json' }).end(bytes);
  };
  const server = createServer((req, res) => void answer(req, res).catch(() => res.destroy())).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, counts, [Symbol.asyncDispose]: close };
}

function limited(res: ServerResponse): void {
  const body = { ok: false, error: 'Too many requests', statusCode: 429, code: 'rate_limited', retryAfterSeconds: 1 };
  res.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' }).end(JSON.stringify(body));
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of pages for the person at this machine. */
interface PageServer extends AsyncDisposable {
  readonly url: string;
}

/** At port zero, it takes any. */
export async function servePages(
  port: number,
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<PageServer> {
  const server = createServer((req, res) => {
    // A page of another site could read it by a name that resolves to this machine.
    if (req.headers.host !== new URL(url).host) sendPage(res, { status: 421, text: 'This is another host.' });
    else answer(req, res);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}

export interface SentPage {
  readonly status?: number;
  readonly type?: string;
  readonly text: string;
  readonly policy?: string;
}

export function sendPage(
  res: ServerResponse,
  { status = 200, type = 'text/plain', text, policy = "default-src 'none'" }: SentPage,
): void {
  const headers = { 'content-type': type, 'content-security-policy': policy, 'cache-control': 'no-store' };
  res
    .writeHead(status, { ...headers, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' })
    .end(text);
}

export function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}

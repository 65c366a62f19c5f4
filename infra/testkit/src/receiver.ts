import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

/** One request somebody sent us. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Held back this long. */
  readonly afterMs?: number;
}

/** A real HTTP server that keeps what it was sent and answers as told: the far end of a webhook. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** From now on; 'hang' never answers, 'reset' breaks the connection. */
  readonly answer: (with_: Answer | 'hang' | 'reset' | ((request: Received) => Answer | 'hang' | 'reset')) => void;
  readonly until: (
    predicate: (all: readonly Received[]) => boolean,
    deadlineMs?: number,
  ) => Promise<readonly Received[]>;
}

export async function receiver(): Promise<Receiver> {
  const received: Received[] = [];
  let decide: (request: Received) => Answer | 'hang' | 'reset' = () => ({ status: 204 });
  const timers = new Set<NodeJS.Timeout>();

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const seen = { method, path: url, headers, body: Buffer.concat(chunks).toString('utf8'), at: Date.now() };
      received.push(seen);
      const answer = decide(seen);
      if (answer === 'hang') return;
      if (answer === 'reset') {
        request.socket.resetAndDestroy();
        return;
      }
      const send = () => response.writeHead(answer.status, answer.headers).end(answer.body);
      if (answer.afterMs === undefined) send();
      else timers.add(setTimeout(send, answer.afterMs));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (next) => {
      decide = typeof next === 'function' ? next : () => next;
    },
    until: (predicate, deadlineMs = 10_000) =>
      eventually(() => (predicate(received) ? received : null), { deadlineMs }),
    [Symbol.asyncDispose]: async () => {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

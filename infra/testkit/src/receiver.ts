import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';

/** A request that the receiver got. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly at: number;
}

export interface ReceiverReply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Delays the reply. */
  readonly afterMs?: number;
}

/** A real HTTP server that stores the requests it gets and replies as the test sets: the endpoint of a webhook. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the reply to later requests; 'hang' sends none, 'reset' resets the connection. */
  readonly answer: (next: Behavior | ((request: Received) => Behavior)) => void;
  readonly until: (
    predicate: (all: readonly Received[]) => boolean,
    deadlineMs?: number,
  ) => Promise<readonly Received[]>;
}

type Behavior = ReceiverReply | 'hang' | 'reset';

export async function receiver(): Promise<Receiver> {
  const received: Received[] = [];
  let behave: (request: Received) => Behavior = () => ({ status: 204 });
  const timers = new Set<NodeJS.Timeout>();

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      const stored = { method, path: url, headers, body, at: Date.now() };
      received.push(stored);
      const reply = behave(stored);
      if (reply === 'hang') return;
      if (reply === 'reset') {
        request.socket.resetAndDestroy();
        return;
      }
      const send = () => response.writeHead(reply.status, reply.headers).end(reply.body);
      if (reply.afterMs === undefined) send();
      else timers.add(setTimeout(send, reply.afterMs));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (next) => {
      behave = typeof next === 'function' ? next : () => next;
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

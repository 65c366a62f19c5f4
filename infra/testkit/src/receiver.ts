import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Identity } from '@wts/local';
import { eventually } from './eventually.ts';
import { resetConnection } from './reset.ts';

/** A request that the receiver got. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
  readonly at: number;
  /** The number of the connection, counted from 1: two requests with the same number shared one. */
  readonly connection: number;
}

export interface ReceiverReply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Delays the reply. */
  readonly afterMs?: number;
}

export interface ReceiverOptions {
  /** What it shows as an HTTPS server, of a `testAuthority()`; without it the receiver is an HTTP server. */
  readonly identity?: Identity;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** False: `received` stays empty, for long runs in which `answer` notes the requests. Default: true. */
  readonly stores?: boolean;
}

/** A real HTTP or HTTPS server that stores the requests it gets and replies as the test sets: the consumer of a webhook. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets the reply to later requests; 'hang' sends none, 'reset' resets the connection. A promise delays the reply until an event of the test. */
  readonly answer: (next: Behavior | ((request: Received) => Behavior | Promise<Behavior>)) => void;
  readonly until: (predicate: (all: readonly Received[]) => boolean) => Promise<readonly Received[]>;
}

type Behavior = ReceiverReply | 'hang' | 'reset';

export async function receiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const { identity, host = '127.0.0.1', stores = true } = options;
  const received: Received[] = [];
  let behave: (request: Received) => Behavior | Promise<Behavior> = () => ({ status: 204 });
  const timers = new Set<NodeJS.Timeout>();
  const connections = new WeakMap<object, number>();
  let connectionCount = 0;
  const tcpSockets = new Map<number | undefined, Socket>();

  const reply = (request: IncomingMessage, response: ServerResponse, chosen: Behavior) => {
    if (chosen === 'hang') return;
    if (chosen === 'reset') {
      // Below TLS: a TLS socket cannot be reset itself.
      const socket = tcpSockets.get(request.socket.remotePort);
      if (socket !== undefined) resetConnection(socket);
      return;
    }
    const send = () => response.writeHead(chosen.status, chosen.headers).end(chosen.body);
    if (chosen.afterMs === undefined) send();
    else {
      const timer = setTimeout(() => {
        timers.delete(timer);
        send();
      }, chosen.afterMs);
      timers.add(timer);
    }
  };
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request;
      const body = Buffer.concat(chunks).toString('utf8');
      const connection = connections.get(request.socket) ?? 0;
      const stored = { method, path: url, headers, rawHeaders, body, at: Date.now(), connection };
      if (stores) received.push(stored);
      const chosen = behave(stored);
      // Not awaited otherwise: what a test throws in it must be an uncaught error.
      if (chosen instanceof Promise) void chosen.then((later) => reply(request, response, later));
      else reply(request, response, chosen);
    });
  };
  const server = identity === undefined ? createServer(serve) : createTlsServer({ ...identity }, serve);
  server.on('connection', (socket: Socket) => tcpSockets.set(socket.remotePort, socket));
  server.on(identity === undefined ? 'connection' : 'secureConnection', (socket: object) =>
    connections.set(socket, ++connectionCount),
  );
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${identity === undefined ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    received,
    answer: (next) => {
      behave = typeof next === 'function' ? next : () => next;
    },
    until: (predicate) => eventually(() => (predicate(received) ? received : null)),
    [Symbol.asyncDispose]: async () => {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

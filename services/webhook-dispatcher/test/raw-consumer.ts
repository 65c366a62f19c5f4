import { eventually } from '@wts/testkit';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** A consumer that answers with bytes of the test's choice, because an HTTP server would not send wrong ones. */
export interface RawConsumer extends AsyncDisposable {
  readonly url: string;
  /** Requests as they came, over all connections. */
  readonly requests: readonly string[];
  readonly connectionCount: () => number;
  readonly openConnections: () => number;
  /** Bytes that came although they are part of no request: of a connection that never got as far. */
  readonly bytesReceived: () => number;
  readonly untilNoConnections: () => Promise<unknown>;
}

export type Behavior = (socket: Socket, requestNumber: number) => void;

interface RawOptions {
  /** Null: no TLS at all. */
  readonly tls: TlsOptions | null;
  /** Called for each request when its body is complete. */
  readonly onRequest?: Behavior;
  /** Called for each connection before anything is read of it. */
  readonly onConnection?: (socket: Socket) => void;
  readonly host?: string;
  readonly port?: number;
}

export async function rawConsumer(options: RawOptions): Promise<RawConsumer> {
  const { tls, onRequest, onConnection, host = '127.0.0.1' } = options;
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  let bytesReceived = 0;

  const serve = (socket: Socket): void => {
    let received = '';
    onConnection?.(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytesReceived += chunk.length;
      received += chunk.toString('latin1');
      if (!isComplete(received)) return;
      requests.push(received);
      received = '';
      onRequest?.(socket, requests.length);
    });
  };
  const server: Server = tls === null ? createServer(serve) : createTlsServer(tls, serve);
  server.on('connection', (socket: Socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, host, resolve));
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    requests,
    connectionCount: () => connectionCount,
    openConnections: () => sockets.size,
    bytesReceived: () => bytesReceived,
    untilNoConnections: () => eventually(() => sockets.size === 0),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isComplete(request: string): boolean {
  const end = request.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)$/m.exec(request.slice(0, Math.max(end, 0)).replaceAll('\r', ''))?.[1];
  return end >= 0 && request.length >= end + 4 + Number(length ?? 0);
}

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Entrance {
  readonly host: string;
  readonly port: number;
  /** Of the pods; by default the same. */
  readonly podPort?: number;
  /** The pods that are ready now. */
  readonly addresses: () => readonly string[];
}

const CONNECT_MS = 3_000;

/**
 * The load balancer of a cluster: each new connection goes to the next ready pod, and to another one when that does not accept
 * it; open connections stay where they are.
 */
export async function openEntrance({ host, port, podPort = port, addresses }: Entrance): Promise<AsyncDisposable> {
  const open = new Set<Socket>();
  let next = 0;
  const server = createServer({ pauseOnConnect: true }, (client) => {
    open.add(client);
    client.on('close', () => open.delete(client));
    client.on('error', () => {});
    const ready = addresses();
    next += 1;
    join(client, [...ready.slice(next % ready.length), ...ready.slice(0, next % ready.length)], podPort);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

function join(client: Socket, [first, ...others]: readonly string[], port: number): void {
  if (first === undefined || client.destroyed) return void client.destroy();
  const pod = connect({ host: first, port, timeout: CONNECT_MS });
  const fail = (): void => {
    pod.destroy();
    join(client, others, port);
  };
  pod.once('error', fail);
  pod.once('timeout', fail);
  pod.once('connect', () => {
    pod.off('error', fail);
    pod.off('timeout', fail);
    pod.setTimeout(0);
    pod.on('error', () => client.destroy());
    client.on('close', () => pod.destroy());
    pod.on('close', () => client.destroy());
    client.setNoDelay(true);
    pod.setNoDelay(true);
    client.pipe(pod).pipe(client);
  });
}

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { resetConnection } from './reset.ts';

/** A proxy to the sync service that can drop answers: the change is committed, and the caller does not get the result. */
export interface LossyWire extends AsyncDisposable {
  readonly url: string;
  /** Breaks the connection at the first byte of each of the next `count` answers. */
  loseAnswers(count: number): void;
  readonly lost: () => number;
}

export async function openLossyWire(target: string): Promise<LossyWire> {
  const { hostname: host, port } = new URL(target);
  const open = new Set<Socket>();
  let toLose = 0;
  let lost = 0;

  const server = createServer((near) => {
    const far = connect({ host, port: Number(port) });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
    near.pipe(far);
    far.on('data', (bytes) => {
      if (toLose === 0) {
        near.write(bytes);
        return;
      }
      toLose -= 1;
      lost += 1;
      resetConnection(near);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswers: (count) => {
      toLose = count;
      lost = 0;
    },
    lost: () => lost,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

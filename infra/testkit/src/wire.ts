import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A wire between a service and a store, or between any two: it can be cut, frozen and mended. */
export interface Wire extends AsyncDisposable {
  readonly port: number;
  /** `url` with the near end of this wire as its address. */
  readonly through: (url: string) => string;
  /** Connections break at once, new ones are refused: the other side is gone. */
  readonly cut: () => void;
  /** Connections stay open but nothing passes, new ones are accepted and hang: the other side fell silent. */
  readonly freeze: () => void;
  /** What the near side says arrives, what the far side answers is held: done, and nobody learns of it. */
  readonly deafen: () => void;
  /** Works again; what was held passes now. */
  readonly mend: () => void;
  /** Connections from now on go elsewhere, as behind an address that moves to another server. */
  readonly lead: (to: Far) => void;
}

interface Far {
  readonly host: string;
  readonly port: number;
}

type State = 'whole' | 'cut' | 'frozen' | 'deaf';

export async function openWire(target: Far): Promise<Wire> {
  let state: State = 'whole';
  let end = target;
  const pairs = new Set<readonly [Socket, Socket]>();
  const waiting = new Set<() => void>();

  const join = (near: Socket) => {
    const far = connect(end);
    const pair = [near, far] as const;
    pairs.add(pair);
    endTogether(pair, () => pairs.delete(pair));
    near.pipe(far).pipe(near);
    if (state === 'frozen') for (const socket of pair) stopReading(socket);
    if (state === 'deaf') stopReading(far);
  };

  const server: Server = createServer((near) => {
    near.on('error', () => {});
    if (state === 'cut') near.resetAndDestroy();
    else if (state === 'frozen') waiting.add(() => join(near));
    else join(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const breakAll = () => {
    waiting.clear();
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
  };
  return {
    port,
    through: (url) => {
      const changed = new URL(url);
      changed.hostname = '127.0.0.1';
      changed.port = String(port);
      return changed.href;
    },
    cut: () => {
      state = 'cut';
      breakAll();
    },
    freeze: () => {
      state = 'frozen';
      for (const pair of pairs) for (const socket of pair) stopReading(socket);
    },
    deafen: () => {
      state = 'deaf';
      for (const [, far] of pairs) stopReading(far);
    },
    mend: () => {
      // Piping twice would pass everything twice.
      if (state === 'frozen') for (const [near, far] of pairs) near.pipe(far).pipe(near);
      if (state === 'deaf') for (const [near, far] of pairs) far.pipe(near);
      state = 'whole';
      for (const go of waiting) go();
      waiting.clear();
    },
    lead: (to) => {
      end = to;
    },
    [Symbol.asyncDispose]: async () => {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function endTogether(pair: readonly [Socket, Socket], onEnd: () => void): void {
  for (const socket of pair) {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => {
      onEnd();
      for (const one of pair) one.destroy();
    });
  }
}

function stopReading(socket: Socket): void {
  socket.unpipe();
  socket.pause();
}

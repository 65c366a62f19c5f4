import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { resetConnection } from './reset.ts';

/** A TCP proxy between a service and a store that can break, freeze and restore the connections. */
export interface Wire extends AsyncDisposable {
  readonly port: number;
  /** The same URL, with the address of this wire. */
  readonly through: (url: string) => string;
  /** Resets all connections and refuses new ones, as when the server is down. */
  readonly cut: () => void;
  /** Passes nothing: connections stay open, new ones are accepted and hang. */
  readonly freeze: () => void;
  /** Passes requests and holds replies: the server does the work, and the client does not learn of it. */
  readonly holdReplies: () => void;
  /** Passes everything again, first what was held. */
  readonly mend: () => void;
  /** Sends new connections to another server. */
  readonly redirect: (to: Address) => void;
  /** Resets the connection at the first byte of each of the next `count` replies: the server did the work. */
  readonly loseAnswers: (count: number) => void;
  /** Replies that were lost since `loseAnswers`. */
  readonly lost: () => number;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

type State = 'open' | 'cut' | 'frozen' | 'holding-replies';

export async function openWire(address: Address): Promise<Wire> {
  let state: State = 'open';
  let target = address;
  const losses = newLosses();
  const pairs = new Set<readonly [Socket, Socket]>();
  /** Clients that connected while nothing is passed. */
  const waiting = new Set<Socket>();

  const connectPair = (client: Socket) => {
    const server = connect(target);
    const pair = [client, server] as const;
    pairs.add(pair);
    endTogether(pair, () => pairs.delete(pair));
    // Before the pipe passes them.
    server.on('data', () => losses.onReply(client));
    client.pipe(server).pipe(client);
    if (state === 'frozen') for (const socket of pair) stopReading(socket);
    if (state === 'holding-replies') stopReading(server);
  };

  const proxy: Server = createServer((client) => {
    client.on('error', () => {});
    if (state === 'cut') resetConnection(client);
    else if (state === 'frozen') waiting.add(client);
    else connectPair(client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;

  const resetAll = () => {
    for (const socket of [...waiting, ...[...pairs].flat()]) resetConnection(socket);
    waiting.clear();
  };
  return {
    port,
    through: (url) => Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href,
    cut: () => {
      state = 'cut';
      resetAll();
    },
    freeze: () => {
      state = 'frozen';
      for (const pair of pairs) for (const socket of pair) stopReading(socket);
    },
    holdReplies: () => {
      state = 'holding-replies';
      for (const [, server] of pairs) stopReading(server);
    },
    mend: () => {
      // Only the pipes that were stopped: a second pipe would pass everything twice.
      if (state === 'frozen') for (const [client, server] of pairs) client.pipe(server).pipe(client);
      if (state === 'holding-replies') for (const [client, server] of pairs) server.pipe(client);
      state = 'open';
      for (const client of waiting) if (!client.destroyed) connectPair(client);
      waiting.clear();
    },
    redirect: (to) => {
      target = to;
    },
    loseAnswers: losses.loseAnswers,
    lost: losses.lost,
    [Symbol.asyncDispose]: async () => {
      resetAll();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

function newLosses(): Pick<Wire, 'loseAnswers' | 'lost'> & { readonly onReply: (client: Socket) => void } {
  let [toLose, lost] = [0, 0];
  return {
    loseAnswers: (count) => {
      [toLose, lost] = [count, 0];
    },
    lost: () => lost,
    onReply: (client) => {
      if (toLose === 0 || client.destroyed) return;
      toLose -= 1;
      lost += 1;
      resetConnection(client);
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

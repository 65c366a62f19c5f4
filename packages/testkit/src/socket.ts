import type { SyncAction } from '@wts/contracts';
import { WebSocket } from 'ws';
import type { RawData } from 'ws';

/** A frame the server sent. */
export interface ServerFrame {
  readonly type: string;
  readonly afterSyncId?: string;
  readonly groups?: readonly string[];
  readonly packet?: { readonly lastSyncId: string; readonly actions: readonly SyncAction[] };
  readonly [field: string]: unknown;
}

export interface SocketOptions {
  readonly token: string;
  /** Cursor, exclusive. */
  readonly after?: string;
  /** Narrows what is heard, and asks for letters. */
  readonly groups?: readonly string[];
  /** False: connected, but the test sends its own frames. */
  readonly subscribe?: boolean;
}

/** A real WebSocket client that keeps every frame and action it heard, in order. */
export interface LiveSocket extends AsyncDisposable {
  readonly frames: readonly ServerFrame[];
  readonly actions: readonly SyncAction[];
  /** When each action arrived, in milliseconds of `performance.now`. */
  readonly arrivals: readonly number[];
  /** The highest place heard of, also from packets without actions. */
  readonly cursor: () => string;
  /** Set when the connection ended. */
  readonly ended: () => { readonly code: number; readonly reason: string } | null;
  readonly send: (frame: object | string) => void;
  /** Stops reading, so that the server's buffers fill. */
  readonly pause: () => void;
  readonly resume: () => void;
  /** Resolves when `predicate` holds for what was heard; checked after every frame and at the end of the connection. */
  readonly until: (predicate: (socket: LiveSocket) => boolean, deadlineMs?: number) => Promise<void>;
  readonly untilAction: (predicate: (action: SyncAction) => boolean, deadlineMs?: number) => Promise<SyncAction>;
  readonly close: () => Promise<void>;
}

const DEADLINE_MS = 10_000;

/** Connects, subscribes, and resolves when the server has answered `subscribed`. */
export async function socketOf(target: { readonly baseUrl: string }, options: SocketOptions): Promise<LiveSocket> {
  const { token, after = '0', groups, subscribe = true } = options;
  const url = `${target.baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(token)}`;
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const live = listen(socket);
  await opened(socket);
  if (subscribe) {
    live.send({ type: 'subscribe', afterSyncId: after, token, ...(groups === undefined ? {} : { groups }) });
    await live.until(({ frames, ended }) => frames.length > 0 || ended() !== null);
    const first = live.frames[0];
    if (first?.type !== 'subscribed') throw new Error(`not subscribed: ${JSON.stringify(first ?? live.ended())}`);
  }
  return live;
}

function listen(socket: WebSocket): LiveSocket {
  const frames: ServerFrame[] = [];
  const actions: SyncAction[] = [];
  const arrivals: number[] = [];
  const waiters = new Set<() => void>();
  let cursor = '0';
  let ended: { code: number; reason: string } | null = null;

  const wake = () => {
    for (const waiter of waiters) waiter();
  };
  socket.on('message', (data: RawData) => {
    const frame = JSON.parse((data as Buffer).toString('utf8')) as ServerFrame;
    frames.push(frame);
    if (frame.packet !== undefined) {
      const now = performance.now();
      for (const action of frame.packet.actions) {
        actions.push(action);
        arrivals.push(now);
      }
      cursor = frame.packet.lastSyncId;
    }
    wake();
  });
  socket.on('close', (code, reason) => {
    ended = { code, reason: reason.toString('utf8') };
    wake();
  });
  socket.on('error', () => {});

  const live: LiveSocket = {
    frames,
    actions,
    arrivals,
    cursor: () => cursor,
    ended: () => ended,
    send: (frame) => socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame)),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    until: (predicate, deadlineMs = DEADLINE_MS) =>
      new Promise((resolve, reject) => {
        const done = (settle: () => void) => {
          clearTimeout(timer);
          waiters.delete(look);
          settle();
        };
        const look = () => {
          if (predicate(live)) done(resolve);
          // Nothing more will come: waiting on would only hide why.
          else if (ended !== null)
            done(() => reject(new Error(`the socket ended with ${ended?.code} "${ended?.reason}"`)));
        };
        const timer = setTimeout(() => {
          const heard = `${frames.length} frames, ${actions.length} actions, cursor ${cursor}`;
          done(() => reject(new Error(`the socket did not hear it in ${deadlineMs} ms; it heard ${heard}`)));
        }, deadlineMs);
        waiters.add(look);
        look();
      }),
    untilAction: async (predicate, deadlineMs) => {
      await live.until(() => actions.some(predicate), deadlineMs);
      return actions.find(predicate)!;
    },
    close: async () => {
      if (socket.readyState === WebSocket.CLOSED) return;
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      // A paused socket would never see the answer to its close frame.
      socket.resume();
      socket.close();
      const timer = setTimeout(() => socket.terminate(), 1_000);
      await closed;
      clearTimeout(timer);
    },
    [Symbol.asyncDispose]: () => live.close(),
  };
  return live;
}

/** Rejects with the answer when the upgrade is refused. */
function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString('utf8');
        reject(
          Object.assign(new Error(`upgrade refused: ${response.statusCode} ${body}`), {
            statusCode: response.statusCode,
            body,
          }),
        );
        socket.terminate();
      });
    });
  });
}

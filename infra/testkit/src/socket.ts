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

const DEADLINE_MS = 10_000;
const CLOSE_MS = 1_000;

/** Connects, subscribes, and resolves when the server has answered `subscribed`. */
export async function socketOf(target: { readonly baseUrl: string }, options: SocketOptions): Promise<LiveSocket> {
  const { token, after = '0', groups, subscribe = true } = options;
  const url = `${target.baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(token)}`;
  const socket = new WebSocket(url, { perMessageDeflate: false });
  const live = new LiveSocket(socket);
  await opened(socket);
  if (subscribe) {
    live.send({ type: 'subscribe', afterSyncId: after, token, ...(groups === undefined ? {} : { groups }) });
    await live.until(({ frames, ended }) => frames.length > 0 || ended() !== null);
    const first = live.frames[0];
    if (first?.type !== 'subscribed') throw new Error(`not subscribed: ${JSON.stringify(first ?? live.ended())}`);
  }
  return live;
}

/** A real WebSocket client that keeps every frame and action it heard, in order. */
export class LiveSocket implements AsyncDisposable {
  readonly frames: ServerFrame[] = [];
  readonly actions: SyncAction[] = [];
  /** When each action arrived, in milliseconds of `performance.now`. */
  readonly arrivals: number[] = [];
  readonly #socket: WebSocket;
  readonly #waiters = new Set<() => void>();
  #cursor = '0';
  #ended: { readonly code: number; readonly reason: string } | null = null;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: RawData) => this.#hear(JSON.parse((data as Buffer).toString('utf8')) as ServerFrame));
    socket.on('close', (code, reason) => {
      this.#ended = { code, reason: reason.toString('utf8') };
      this.#wake();
    });
    socket.on('error', () => {});
  }

  /** The highest place heard of, also from packets without actions. */
  readonly cursor = (): string => this.#cursor;

  /** How the connection ended; null while it is open. */
  readonly ended = (): { readonly code: number; readonly reason: string } | null => this.#ended;

  send(frame: object | string): void {
    this.#socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** Stops reading, so that the server's buffers fill. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Gone without a word. */
  cut(): void {
    this.#socket.terminate();
  }

  /** Resolves when `predicate` holds for what was heard; looked at after every frame and at the end of the connection. */
  until(predicate: (socket: LiveSocket) => boolean, deadlineMs = DEADLINE_MS): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(look);
        settle();
      };
      const fail = (text: string) => {
        const heard = `${this.frames.length} frames, ${this.actions.length} actions, cursor ${this.#cursor}`;
        done(() => reject(new Error(`${text}; it heard ${heard}`)));
      };
      const look = () => {
        if (predicate(this)) done(resolve);
        // Nothing more will come: waiting on would only hide why.
        else if (this.#ended !== null) fail(`the socket ended with ${this.#ended.code} "${this.#ended.reason}"`);
      };
      const timer = setTimeout(() => fail(`the socket did not hear it in ${deadlineMs} ms`), deadlineMs);
      this.#waiters.add(look);
      look();
    });
  }

  async untilAction(predicate: (action: SyncAction) => boolean, deadlineMs?: number): Promise<SyncAction> {
    await this.until(() => this.actions.some(predicate), deadlineMs);
    return this.actions.find(predicate)!;
  }

  async close(): Promise<void> {
    if (this.#ended !== null) return;
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    // A paused socket would never see the answer to its close frame.
    this.#socket.resume();
    this.#socket.close();
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_MS);
    await closed;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #hear(frame: ServerFrame): void {
    this.frames.push(frame);
    if (frame.packet !== undefined) {
      const now = performance.now();
      for (const action of frame.packet.actions) {
        this.actions.push(action);
        this.arrivals.push(now);
      }
      this.#cursor = frame.packet.lastSyncId;
    }
    this.#wake();
  }

  #wake(): void {
    for (const waiter of this.#waiters) waiter();
  }
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

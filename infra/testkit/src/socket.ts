import type { SyncAction } from '@wts/contracts';
import { WebSocket, type RawData } from 'ws';

export interface ReceivedFrame {
  readonly type: string;
  readonly afterSyncId?: string;
  readonly groups?: readonly string[];
  readonly packet?: { readonly lastSyncId: string; readonly actions: readonly SyncAction[] };
  readonly [field: string]: unknown;
}

export interface SocketOptions {
  readonly token: string;
  /** The cursor, exclusive. */
  readonly after?: string;
  /** Only these groups, and actions as letters. */
  readonly groups?: readonly string[];
  /** False: the test sends its own subscribe frame. */
  readonly subscribe?: boolean;
}

/** Far more than a busy machine needs: it only ends a test that would wait forever. */
const DEADLINE_MS = 120_000;
const CLOSE_MS = 1_000;

/** Connects, subscribes, and resolves after the `subscribed` frame. */
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

/** A real WebSocket client that stores every frame and action it receives, in order. */
export class LiveSocket implements AsyncDisposable {
  readonly frames: ReceivedFrame[] = [];
  readonly actions: SyncAction[] = [];
  /** When each action arrived, in milliseconds of `performance.now`. */
  readonly arrivals: number[] = [];
  readonly #socket: WebSocket;
  readonly #waiters = new Set<() => void>();
  #cursor = '0';
  #ended: { readonly code: number; readonly reason: string } | null = null;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: RawData) =>
      this.#receive(JSON.parse((data as Buffer).toString('utf8')) as ReceivedFrame),
    );
    socket.on('close', (code, reason) => {
      this.#ended = { code, reason: reason.toString('utf8') };
      this.#wake();
    });
    socket.on('error', () => {});
  }

  /** The highest position received, also from packets without actions. */
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

  /** Ends the connection without a close frame. */
  cut(): void {
    this.#socket.terminate();
  }

  /** Resolves when `predicate` holds; checks it after every frame and at the end of the connection. */
  until(predicate: (socket: LiveSocket) => boolean, deadlineMs = DEADLINE_MS): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (settle: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        settle();
      };
      const fail = (text: string) => {
        const received = `${this.frames.length} frames, ${this.actions.length} actions, cursor ${this.#cursor}`;
        done(() => reject(new Error(`${text}; it received ${received}`)));
      };
      const check = () => {
        if (predicate(this)) done(resolve);
        else if (this.#ended !== null) fail(`the socket ended with ${this.#ended.code} "${this.#ended.reason}"`);
      };
      const timer = setTimeout(() => fail(`the condition was not met in ${deadlineMs} ms`), deadlineMs);
      this.#waiters.add(check);
      check();
    });
  }

  async untilAction(predicate: (action: SyncAction) => boolean, deadlineMs?: number): Promise<SyncAction> {
    await this.until(() => this.actions.some(predicate), deadlineMs);
    return this.actions.find(predicate)!;
  }

  async close(): Promise<void> {
    if (this.#ended !== null) return;
    const closed = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    // A paused socket never receives the close frame of the server.
    this.#socket.resume();
    this.#socket.close();
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_MS);
    await closed;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #receive(frame: ReceivedFrame): void {
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

/** Rejects with the response when the upgrade is refused. */
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

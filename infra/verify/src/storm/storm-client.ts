import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { WebSocket, type RawData } from 'ws';

export interface StormClientOptions {
  readonly name: string;
  readonly credential: Credential;
  readonly after: string;
  /** The address to reconnect to; it may change. */
  readonly baseUrl: () => string;
  /** Called when a connection is refused or closed, with the HTTP status, the close code or the network error. */
  readonly onRejected: (reason: string) => void;
  /** True: it loads everything again whenever it was dropped, as a client without a local copy. */
  readonly isReloading: boolean;
}

export interface Credential {
  readonly userId: string;
  readonly token: string;
}

/** Without Retry-After. It is constant and has no jitter, so that all clients retry at the same time. */
const RETRY_MS = 250;
const HANDSHAKE_MS = 20_000;
const BOOTSTRAP_MS = 60_000;

/**
 * One client of the storm. It waits as little as a client may: it reconnects immediately when it is dropped, or after exactly
 * the time in Retry-After. It keeps the received ids for the audit.
 */
export class StormClient {
  readonly name: string;
  readonly credential: Credential;
  /** It must receive every entry after this position: its start, or its last bootstrap. */
  after: string;
  cursor: bigint;
  ids: string[] = [];
  /** Null while it is not subscribed. */
  subscribedAtMs: number | null = null;
  readonly #options: StormClientOptions;
  #socket: WebSocket | undefined;
  #isClosed = false;

  constructor(options: StormClientOptions) {
    this.name = options.name;
    this.credential = options.credential;
    this.after = options.after;
    this.cursor = BigInt(options.after);
    this.#options = options;
  }

  get isSubscribed(): boolean {
    return this.subscribedAtMs !== null;
  }

  connect(): void {
    const { token } = this.credential;
    const url = `${this.#options.baseUrl().replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(token)}`;
    const socket = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS });
    this.#socket = socket;
    let retryMs = 0;
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: String(this.cursor), token })),
    );
    socket.on('message', (data: RawData) => this.#receive((data as Buffer).toString('utf8')));
    socket.on('unexpected-response', (_request, { statusCode, headers }) => {
      retryMs = Number(headers['retry-after'] ?? 0) * 1000 || RETRY_MS;
      this.#options.onRejected(`answered ${statusCode}${headers['retry-after'] === undefined ? '' : ', Retry-After'}`);
      socket.terminate();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (retryMs > 0) return;
      retryMs = RETRY_MS;
      this.#options.onRejected(error.code ?? error.message);
      socket.terminate();
    });
    socket.on('close', (code) => {
      if (retryMs === 0) this.#options.onRejected(`closed ${code}`);
      void this.#reconnect(retryMs);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#socket?.terminate();
  }

  async #reconnect(afterMs: number): Promise<void> {
    const wasSubscribed = this.isSubscribed;
    this.subscribedAtMs = null;
    if (afterMs > 0) await pause(afterMs);
    if (this.#options.isReloading && wasSubscribed) await this.#bootstrap();
    if (!this.#isClosed) this.connect();
  }

  /** Loads everything and continues from the position of the snapshot. */
  async #bootstrap(): Promise<void> {
    while (!this.#isClosed) {
      const { statusCode, headers, body } = await request(`${this.#options.baseUrl()}/sync/bootstrap`, {
        headers: { authorization: `Bearer ${this.credential.token}` },
        headersTimeout: BOOTSTRAP_MS,
        bodyTimeout: BOOTSTRAP_MS,
      });
      const text = await body.text();
      if (statusCode === 200) {
        const lines = text.trimEnd().split('\n');
        const { rowCount } = JSON.parse(lines.at(-1) ?? '{}') as { rowCount?: number };
        if (rowCount !== lines.length - 2)
          throw new Error(`a snapshot has ${lines.length} lines and the row count ${rowCount}`);
        const { lastSyncId } = JSON.parse(lines[0] ?? '{}') as { lastSyncId: string };
        this.after = lastSyncId;
        this.cursor = BigInt(lastSyncId);
        this.ids = [];
        return;
      }
      const retryAfter = Number(headers['retry-after']);
      if (statusCode !== 503 || !(retryAfter > 0)) throw new Error(`bootstrap answered ${statusCode}: ${text}`);
      this.#options.onRejected('bootstrap answered 503, Retry-After');
      await pause(retryAfter * 1000);
    }
  }

  #receive(text: string): void {
    const frame = JSON.parse(text) as {
      type: string;
      packet?: { lastSyncId: string; actions: { syncId: string }[] };
      code?: string;
    };
    if (frame.type === 'subscribed') this.subscribedAtMs = performance.now();
    if (frame.packet === undefined) return;
    for (const { syncId } of frame.packet.actions) this.ids.push(syncId);
    this.cursor = BigInt(frame.packet.lastSyncId);
  }
}

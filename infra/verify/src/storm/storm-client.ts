import { setTimeout as pause } from 'node:timers/promises';
import { request } from 'undici';
import { WebSocket, type RawData } from 'ws';

/** What all clients of a storm share. */
export interface SharedByClients {
  /** The door to come back to, which may be another one than before. */
  readonly door: () => string;
  /** A connection that did not come to be or was closed: an HTTP status, a close code, or the code of the network. */
  readonly onTurnedAway: (reason: string) => void;
}

export interface Credential {
  readonly userId: string;
  readonly token: string;
}

/** Where nothing says when to come again. Always the same: what members do at once, they do at once again. */
const RETRY_MS = 250;
const HANDSHAKE_MS = 20_000;
const BOOTSTRAP_MS = 60_000;

/**
 * One client of the storm. It waits as little as a client may: it comes back the moment it is dropped, and when it is told to
 * wait, not a moment later than told. It keeps the ids it was sent since its beginning, to be judged.
 */
export class StormClient {
  readonly name: string;
  readonly credential: Credential;
  /** The place after which everything must have come: where it began, or began anew. */
  after: string;
  cursor: bigint;
  ids: string[] = [];
  /** Since the last drop: until it was subscribed. */
  subscribedAtMs: number | null = null;
  readonly #shared: SharedByClients;
  readonly #isForgetful: boolean;
  #socket: WebSocket | undefined;
  #isLeaving = false;

  /** A forgetful one loads everything anew whenever it was dropped. */
  constructor(name: string, credential: Credential, after: string, shared: SharedByClients, isForgetful: boolean) {
    this.name = name;
    this.credential = credential;
    this.after = after;
    this.cursor = BigInt(after);
    this.#shared = shared;
    this.#isForgetful = isForgetful;
  }

  get isSubscribed(): boolean {
    return this.subscribedAtMs !== null;
  }

  connect(): void {
    const { token } = this.credential;
    const url = `${this.#shared.door().replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(token)}`;
    const socket = new WebSocket(url, { perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS });
    this.#socket = socket;
    let retryMs = 0;
    socket.on('open', () =>
      socket.send(JSON.stringify({ type: 'subscribe', afterSyncId: String(this.cursor), token })),
    );
    socket.on('message', (data: RawData) => this.#hear((data as Buffer).toString('utf8')));
    socket.on('unexpected-response', (_request, { statusCode, headers }) => {
      retryMs = Number(headers['retry-after'] ?? 0) * 1000 || RETRY_MS;
      this.#shared.onTurnedAway(`answered ${statusCode}${headers['retry-after'] === undefined ? '' : ', Retry-After'}`);
      socket.terminate();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (retryMs > 0) return;
      retryMs = RETRY_MS;
      this.#shared.onTurnedAway(error.code ?? error.message);
      socket.terminate();
    });
    socket.on('close', (code) => {
      if (retryMs === 0) this.#shared.onTurnedAway(`closed ${code}`);
      void this.#comeBack(retryMs);
    });
  }

  leave(): void {
    this.#isLeaving = true;
    this.#socket?.terminate();
  }

  /** At once, unless it was refused: whatever the close code says. */
  async #comeBack(afterMs: number): Promise<void> {
    const wasSubscribed = this.isSubscribed;
    this.subscribedAtMs = null;
    if (afterMs > 0) await pause(afterMs);
    if (this.#isForgetful && wasSubscribed) await this.#bootstrap();
    if (!this.#isLeaving) this.connect();
  }

  /** Loads everything, and goes on from there. */
  async #bootstrap(): Promise<void> {
    while (!this.#isLeaving) {
      const { statusCode, headers, body } = await request(`${this.#shared.door()}/sync/bootstrap`, {
        headers: { authorization: `Bearer ${this.credential.token}` },
        headersTimeout: BOOTSTRAP_MS,
        bodyTimeout: BOOTSTRAP_MS,
      });
      const text = await body.text();
      if (statusCode === 200) {
        const lines = text.trimEnd().split('\n');
        const { rowCount } = JSON.parse(lines.at(-1) ?? '{}') as { rowCount?: number };
        if (rowCount !== lines.length - 2) throw new Error(`a snapshot of ${lines.length} lines says ${rowCount} rows`);
        const { lastSyncId } = JSON.parse(lines[0] ?? '{}') as { lastSyncId: string };
        this.after = lastSyncId;
        this.cursor = BigInt(lastSyncId);
        this.ids = [];
        return;
      }
      const retryAfter = Number(headers['retry-after']);
      if (statusCode !== 503 || !(retryAfter > 0)) throw new Error(`bootstrap answered ${statusCode}: ${text}`);
      this.#shared.onTurnedAway('bootstrap answered 503, Retry-After');
      await pause(retryAfter * 1000);
    }
  }

  #hear(text: string): void {
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

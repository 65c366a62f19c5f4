import { SyncError } from './error.ts';
import type { Http } from './http.ts';
import type { SnapshotRecord, SyncAction } from './records.ts';
import { Backoff, isTemporary, pause, type RetryOptions } from './retry.ts';
import { openSnapshot } from './snapshot.ts';
import { receiveFrames, type SocketLike } from './socket.ts';
import { DELTAS_NAMES, type DeltasReply } from './wire.ts';

export interface FollowOptions {
  /** The last consumed `lastSyncId`; without one everything is loaded first. */
  readonly after?: string;
  /** Ends `follow`. */
  readonly signal?: AbortSignal;
  /** Buffered frames, in characters. Default 4 Mi. */
  readonly bufferCharsMax?: number;
}

export type SyncEvent =
  /** All earlier records are invalid; the records that replace them follow. */
  | { readonly type: 'reset'; readonly groups: readonly string[] }
  | { readonly type: 'records'; readonly records: readonly SnapshotRecord[] }
  /** All records are delivered: they are the state at `lastSyncId`. */
  | { readonly type: 'loaded'; readonly lastSyncId: string }
  /** The connection is live. */
  | { readonly type: 'subscribed'; readonly groups: readonly string[] }
  /** New entries in ascending order; `lastSyncId` is the cursor after them. */
  | { readonly type: 'delta'; readonly lastSyncId: string; readonly actions: readonly SyncAction[] }
  /** No connection; the next attempt is after `retryMs`. */
  | { readonly type: 'offline'; readonly error: SyncError; readonly retryMs: number };

const BUFFER_CHARS_MAX = 4 * 1024 * 1024;
/** Three watermarks. */
const SILENCE_MS = 60_000;
/** After a connection that lasted this long, the pauses start again at the first. */
const STABLE_MS = 5_000;

/**
 * Follows the log from a cursor on, by socket with reconnections, and by pages where no socket can be opened. The cursor advances
 * when the next event is requested, so an event that was not consumed is delivered again. After BOOTSTRAP_REQUIRED everything is
 * loaded again, after a `reset`. Ends by its signal, or by an error that a retry cannot solve.
 */
export class Follower {
  readonly #http: Http;
  readonly #openSocket: (url: string) => SocketLike;
  readonly #options: FollowOptions;
  readonly #signal: AbortSignal;
  readonly #backoff: Backoff;
  #cursor: string | null;
  /** The cursor of the last snapshot. */
  #loaded: string | null = null;

  constructor(http: Http, openSocket: (url: string) => SocketLike, retry: RetryOptions, options: FollowOptions) {
    this.#http = http;
    this.#openSocket = openSocket;
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
    this.#backoff = new Backoff(retry);
    this.#cursor = options.after ?? null;
  }

  async *events(): AsyncGenerator<SyncEvent, void> {
    while (!this.#signal.aborted) {
      const startedMs = performance.now();
      try {
        yield* this.#cursor === null ? this.#load() : this.#receive(this.#cursor);
        continue;
      } catch (error) {
        if (this.#signal.aborted) return;
        if (!isTemporary(error)) throw error;
        if (performance.now() - startedMs > STABLE_MS) this.#backoff.reset();
        const retryMs = this.#backoff.nextPauseMs(error);
        yield { type: 'offline', error: error as SyncError, retryMs };
        await pause(retryMs, this.#signal).catch(() => {});
      }
    }
  }

  async *#load(): AsyncGenerator<SyncEvent> {
    const snapshot = await openSnapshot(this.#http, '/sync/bootstrap', this.#signal);
    yield { type: 'reset', groups: snapshot.subscribedSyncGroups };
    for await (const records of snapshot.records) {
      if (records.length > 0) yield { type: 'records', records };
    }
    yield { type: 'loaded', lastSyncId: snapshot.lastSyncId };
    this.#cursor = this.#loaded = snapshot.lastSyncId;
  }

  /** When the server refuses the cursor of its own last snapshot, the next load waits for a pause. */
  #requireBootstrap(): void {
    const isRepeated = this.#cursor === this.#loaded;
    this.#cursor = null;
    if (isRepeated) throw new SyncError('bootstrap_required', 'The log does not continue from the snapshot');
  }

  /** One connection, to its end. */
  async *#receive(after: string): AsyncGenerator<SyncEvent> {
    const token = await this.#http.token();
    const url = `${this.#http.baseUrl.replace(/^http/, 'ws')}/sync/ws?token=${encodeURIComponent(token)}`;
    const bounds = {
      connectMs: this.#http.attemptMs,
      silenceMs: SILENCE_MS,
      bufferCharsMax: this.#options.bufferCharsMax ?? BUFFER_CHARS_MAX,
      signal: this.#signal,
    };
    let isSubscribed = false;
    let reason = 'The connection ended';
    const frames = receiveFrames(this.#openSocket(url), { type: 'subscribe', afterSyncId: after, token }, bounds);
    for await (const frame of frames) {
      if (frame.type === 'subscribed') {
        isSubscribed = true;
        yield { type: 'subscribed', groups: frame.groups };
      } else if (frame.type === 'delta') {
        yield { type: 'delta', ...frame.packet };
        this.#cursor = frame.packet.lastSyncId;
      } else if (frame.type === 'error') {
        if (frame.code === 'BOOTSTRAP_REQUIRED') {
          this.#requireBootstrap();
          return;
        }
        isSubscribed &&= frame.code !== 'UNAUTHORIZED';
        reason = `${frame.code}: ${frame.message}`;
      }
    }
    // Browsers hide why an upgrade is refused. Pages show it, and deliver entries where no socket can be opened.
    if (!isSubscribed && !this.#signal.aborted) yield* this.#readPages();
    throw new SyncError('connection_failed', reason);
  }

  async *#readPages(): AsyncGenerator<SyncEvent> {
    try {
      for (let hasMore = true; hasMore;) {
        const path = `/sync/deltas?after=${this.#cursor ?? '0'}`;
        const page = await this.#http.json<DeltasReply>(path, this.#signal, { replyNames: DELTAS_NAMES });
        yield { type: 'delta', lastSyncId: page.lastSyncId, actions: page.actions };
        this.#cursor = page.lastSyncId;
        hasMore = page.hasMore;
      }
    } catch (error) {
      if (!(error instanceof SyncError && error.code === 'bootstrap_required')) throw error;
      this.#requireBootstrap();
    }
  }
}

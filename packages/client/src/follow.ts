import type { DeltasReply, SyncAction } from '@wts/contracts';
import { SyncError } from './error.ts';
import type { Http } from './http.ts';
import { Backoff, isTemporary, pause } from './retry.ts';
import type { RetryOptions } from './retry.ts';
import { openSnapshot } from './snapshot.ts';
import type { SnapshotRecord } from './snapshot.ts';
import { receiveFrames } from './socket.ts';
import type { SocketLike } from './socket.ts';

export interface FollowOptions {
  /** The last `lastSyncId` that was taken in; without one everything is loaded first. */
  readonly after?: string;
  /** Ends the following. */
  readonly signal?: AbortSignal;
  /** Frames that were not taken yet, in characters. Default 4 Mi. */
  readonly bufferCharsMax?: number;
}

export type SyncEvent =
  /** Everything that was known is void; the records that replace it follow. */
  | { readonly type: 'reset'; readonly groups: readonly string[] }
  | { readonly type: 'records'; readonly records: readonly SnapshotRecord[] }
  /** All records have come: they are the state at `lastSyncId`. */
  | { readonly type: 'loaded'; readonly lastSyncId: string }
  /** The connection is live. */
  | { readonly type: 'subscribed'; readonly groups: readonly string[] }
  /** What happened, ascending; `lastSyncId` is the cursor once it is taken in. */
  | { readonly type: 'delta'; readonly lastSyncId: string; readonly actions: readonly SyncAction[] }
  /** No connection; the next attempt comes by itself. */
  | { readonly type: 'offline'; readonly error: SyncError; readonly retryMs: number };

const BUFFER_CHARS_MAX = 4 * 1024 * 1024;
/** Three watermarks. */
const SILENCE_MS = 60_000;
/** A connection that lasted this long was a good one: after it the pauses begin anew. */
const STABLE_MS = 5_000;

/**
 * The log from a cursor on, for as long as it is asked for: by socket, again and again, and by pages where no socket can be
 * had. The cursor moves when the next event is asked for, so an event that was not taken in is given again. After
 * BOOTSTRAP_REQUIRED everything is loaded anew, as `reset` says. Ends by its signal, or by an error that no repetition mends.
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
        yield* this.#cursor === null ? this.#load() : this.#listen(this.#cursor);
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

  /** A server that refuses the snapshot it has just given is not asked again without a pause. */
  #requireBootstrap(): void {
    const isVain = this.#cursor === this.#loaded;
    this.#cursor = null;
    if (isVain) throw new SyncError('bootstrap_required', 'The log does not go on from the snapshot');
  }

  /** One connection, to its end. */
  async *#listen(after: string): AsyncGenerator<SyncEvent> {
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
    // Browsers do not show why an upgrade is refused. Pages do, and bring the log on where no socket gets through.
    if (!isSubscribed && !this.#signal.aborted) yield* this.#readPages();
    throw new SyncError('connection_failed', reason);
  }

  async *#readPages(): AsyncGenerator<SyncEvent> {
    try {
      for (let hasMore = true; hasMore;) {
        const path = `/sync/deltas?after=${this.#cursor ?? '0'}`;
        const page = await this.#http.json<DeltasReply>(path, this.#signal);
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

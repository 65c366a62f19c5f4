import { Follower, type FollowOptions, type SyncEvent } from './follow.ts';
import { Http, type ServerOptions } from './http.ts';
import { RefusedError, outcomeOf, transactionsOf, type MutateOutcome } from './mutate.ts';
import type { Change } from './records.ts';
import { retrying, type CallOptions, type RetryOptions } from './retry.ts';
import { openSnapshot, type Snapshot } from './snapshot.ts';
import type { SocketLike } from './socket.ts';
import { DELTAS_NAMES, type DeltasReply, type MutateReply } from './wire.ts';

export interface SyncClientOptions extends ServerOptions {
  /** The id of this device or process. Store it to repeat a `clientTxId` after a restart. Default: a new one. */
  readonly clientId?: string;
  readonly retry?: RetryOptions;
  /** Default: the `WebSocket` of the platform. */
  readonly openSocket?: (url: string) => SocketLike;
}

export interface BootstrapRequest {
  /** Comma-separated model names such as `Task,Comment`. Default: all. */
  readonly onlyModels?: string;
  /** Comma-separated ids of workspaces, private projects or the caller. Default: all. */
  readonly syncGroups?: string;
  /** The snapshot is taken at this position of the log or later. */
  readonly firstSyncId?: string;
}

/** The sync operations of one caller. No work runs between calls; every call ends by its deadline or its signal. */
export class SyncClient {
  readonly clientId: string;
  readonly #http: Http;
  readonly #retry: RetryOptions;
  readonly #openSocket: (url: string) => SocketLike;

  constructor({ clientId, retry, openSocket, ...http }: SyncClientOptions) {
    this.clientId = clientId ?? crypto.randomUUID();
    this.#http = new Http(http);
    this.#retry = retry ?? {};
    this.#openSocket = openSocket ?? openPlatformSocket;
  }

  /** Follows the log from a cursor on, and reconnects after every loss of the connection; without a cursor it loads everything first. */
  follow(options: FollowOptions = {}): AsyncGenerator<SyncEvent, void> {
    return new Follower(this.#http, this.#openSocket, this.#retry, options).events();
  }

  /** One page of the log. Throws `bootstrap_required` when the log does not have the entries after the cursor. */
  deltas(after: string, { limit, ...options }: CallOptions & { limit?: number } = {}): Promise<DeltasReply> {
    const query = new URLSearchParams({ after, ...(limit === undefined ? {} : { limit: String(limit) }) });
    return retrying(
      (signal) =>
        this.#http.json<DeltasReply>(`/sync/deltas?${query.toString()}`, signal, { replyNames: DELTAS_NAMES }),
      options,
      this.#retry,
    );
  }

  /** Everything the caller may see, or the requested part. The deadline is that of the first line. */
  bootstrap(request: BootstrapRequest = {}, options: CallOptions = {}): Promise<Snapshot> {
    const { signal = new AbortController().signal } = options;
    const path = `/sync/bootstrap?${new URLSearchParams({ ...request }).toString()}`;
    return retrying((opening) => openSnapshot(this.#http, path, signal, opening), options, this.#retry);
  }

  /**
   * Makes up to 100 changes, in order. When the reply is lost, the changes are sent again with the same `clientTxId`s, so each is
   * applied once. Check each result: a refusal is not thrown here.
   */
  mutate(changes: readonly Change[], options: CallOptions = {}): Promise<MutateOutcome> {
    const transactions = transactionsOf(changes, this.clientId);
    const attempt = async (signal: AbortSignal): Promise<MutateOutcome> => {
      const body = { batchId: crypto.randomUUID(), transactions };
      const request = { body, replyNames: ['lastSyncId', 'results', 'mutations'] };
      return outcomeOf(await this.#http.json<MutateReply>('/sync/mutate', signal, request), transactions);
    };
    return retrying(attempt, options, this.#retry);
  }

  /** As `mutate`; throws `RefusedError` when a change was refused. */
  async mutateOrThrow(changes: readonly Change[], options: CallOptions = {}): Promise<MutateOutcome> {
    const outcome = await this.mutate(changes, options);
    if (outcome.results.some(({ success }) => !success)) throw new RefusedError(outcome);
    return outcome;
  }
}

function openPlatformSocket(url: string): SocketLike {
  // Node 20 has none.
  if (typeof WebSocket === 'undefined')
    throw new TypeError(
      'There is no WebSocket here. Pass openSocket: (url) => new WebSocket(url), of the package "ws".',
    );
  return new WebSocket(url);
}

import { SyncClient, SyncError, type SnapshotRecord } from '@wts/client';
import type { DeltasReply, SyncAction } from '@wts/contracts';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** A system and the credential to use there. */
export interface Account {
  readonly baseUrl: string;
  readonly token: string;
}

/** A client that follows the log through the public API and keeps the received entries in order. */
export interface Follower extends AsyncDisposable {
  readonly name: string;
  readonly received: readonly SyncAction[];
  /** The cursor: it has received everything up to this position. */
  readonly cursor: () => bigint;
  /** Returns the entries up to a position and removes them from `received`. */
  readonly take: (upTo: bigint) => SyncAction[];
  /** Returns the spans up to a position that new snapshots replaced because the log no longer has them, and forgets them. */
  readonly takeReloads: (upTo: bigint) => Reload[];
}

/** The entries after `from`, up to `to`. */
export interface Reload {
  readonly from: bigint;
  readonly to: bigint;
}

export interface SocketFollower extends Follower {
  /** Ends the connection without a close frame, as a network failure does. */
  readonly cut: () => void;
  /** Stops reading, so that the server's buffers fill. */
  readonly pause: () => void;
  readonly resume: () => void;
}

const RETRY_MS = 200;
const RETRY = { firstPauseMs: RETRY_MS, pauseMsMax: RETRY_MS };
const PAGE_LIMIT = 5000;
/** After this a caller treats the system as unavailable. */
const DEADLINE_MS = 20_000;

/** Follows by a socket, which resumes from its cursor whenever it is closed. */
export function followBySocket(account: Account, name: string, after: string): SocketFollower {
  let current: WebSocket | undefined;
  const openSocket = (url: string): WebSocket => (current = new WebSocket(url, { perMessageDeflate: false }));
  const client = new SyncClient({ ...account, openSocket, retry: RETRY });
  const follower = follow(name, after, async ({ cursor, add, reload, signal }) => {
    try {
      for await (const event of client.follow({ after: cursor(), signal })) {
        if (event.type === 'delta') add(event);
        else if (event.type === 'loaded') reload(event.lastSyncId);
      }
    } catch {
      // An error is no finding: the cursor brings the missed entries, or the comparison finds that they are missing.
      await pause(RETRY_MS);
    }
  });
  return {
    ...follower,
    cut: () => current?.terminate(),
    pause: () => current?.pause(),
    resume: () => current?.resume(),
    [Symbol.asyncDispose]: async () => {
      const closed = follower[Symbol.asyncDispose]();
      current?.terminate();
      await closed;
    },
  };
}

/** Follows by polling one page after another. */
export function followByPolling(account: Account, name: string, after: string, everyMs = 250): Follower {
  const client = new SyncClient({ ...account, retry: RETRY });
  return follow(name, after, async ({ cursor, add, reload, signal }) => {
    try {
      const page = await client.deltas(cursor(), { limit: PAGE_LIMIT, signal });
      add(page);
      if (page.hasMore) return;
    } catch (error) {
      if (needsBootstrap(error))
        await readSnapshot(account, ['Workspace']).then(
          ({ lastSyncId }) => reload(lastSyncId),
          () => undefined,
        );
    }
    await pause(everyMs);
  });
}

/** True when the log no longer has the entries after a cursor: they are too old, or of before a promotion. */
export function needsBootstrap(error: unknown): boolean {
  return error instanceof SyncError && error.code === 'bootstrap_required';
}

interface Reading {
  readonly cursor: () => string;
  /** Stores entries, and moves the cursor behind them. */
  readonly add: (page: Pick<DeltasReply, 'actions' | 'lastSyncId'>) => void;
  /** Moves the cursor to that of a new snapshot. */
  readonly reload: (lastSyncId: string) => void;
  readonly signal: AbortSignal;
}

/** Repeats `read` until the follower is closed. */
function follow(name: string, after: string, read: (reading: Reading) => Promise<void>): Follower {
  const received: SyncAction[] = [];
  let reloads: Reload[] = [];
  const closing = new AbortController();
  const { signal } = closing;
  let cursor = after;
  const add: Reading['add'] = ({ actions, lastSyncId }) => {
    received.push(...actions);
    cursor = lastSyncId;
  };
  const reload: Reading['reload'] = (lastSyncId) => {
    reloads.push({ from: BigInt(cursor), to: BigInt(lastSyncId) });
    cursor = lastSyncId;
  };
  const loop = async (): Promise<void> => {
    while (!signal.aborted) await read({ cursor: () => cursor, add, reload, signal });
  };
  const running = loop();
  return {
    name,
    received,
    cursor: () => BigInt(cursor),
    take: (upTo) => takeUpTo(received, upTo),
    takeReloads: (upTo) => {
      const taken = reloads.filter(({ to }) => to <= upTo);
      reloads = reloads.filter(({ to }) => to > upTo);
      return taken;
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await running;
    },
  };
}

function takeUpTo(received: SyncAction[], upTo: bigint): SyncAction[] {
  // Searches from the end: entries ascend, and the comparison reports it when they do not.
  const kept = received.findLastIndex(({ syncId }) => BigInt(syncId) <= upTo) + 1;
  return received.splice(0, kept);
}

export function readPage(account: Account, after: string): Promise<DeltasReply> {
  return new SyncClient(account).deltas(after, { limit: PAGE_LIMIT, deadlineMs: DEADLINE_MS });
}

export interface WholeSnapshot {
  readonly lastSyncId: string;
  /** All groups of the caller, their own first. */
  readonly groups: readonly string[];
  readonly rows: readonly SnapshotRecord[];
}

/** Reads a whole snapshot. Throws when the last line is missing, because the rest could be missing too. */
export async function readSnapshot(account: Account, onlyModels: readonly string[]): Promise<WholeSnapshot> {
  const client = new SyncClient({ ...account, attemptMs: DEADLINE_MS });
  const snapshot = await client.bootstrap({ onlyModels: onlyModels.join(',') }, { deadlineMs: DEADLINE_MS });
  const rows = (await Array.fromAsync(snapshot.records)).flat();
  return { lastSyncId: snapshot.lastSyncId, groups: snapshot.subscribedSyncGroups, rows };
}

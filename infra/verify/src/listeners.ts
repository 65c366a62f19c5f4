import { SyncClient } from '@wts/client';
import type { SnapshotRecord } from '@wts/client';
import type { DeltasReply, SyncAction } from '@wts/contracts';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

export interface Target {
  readonly baseUrl: string;
  readonly token: string;
}

/** Somebody who follows the log through a public door and keeps what came, in order. */
export interface Listener extends AsyncDisposable {
  readonly name: string;
  readonly received: readonly SyncAction[];
  /** The place up to which it was told everything. */
  readonly at: () => bigint;
  /** Hands over what was received up to a place, and forgets it. */
  readonly take: (upTo: bigint) => SyncAction[];
}

/** A socket that can be treated badly. */
export interface SocketListener extends Listener {
  /** As when the network goes: no close frame. */
  readonly cut: () => void;
  /** Stops reading, so that the server's buffers fill. */
  readonly pause: () => void;
  readonly resume: () => void;
}

const RETRY_MS = 200;
const RETRY = { firstPauseMs: RETRY_MS, pauseMsMax: RETRY_MS };
const PAGE_LIMIT = 5000;
/** A system that is away is reported, and looked at again by who asks. */
const DEADLINE_MS = 20_000;

/** A socket that resumes from its cursor whenever it is closed, as clients do. */
export function listenBySocket(target: Target, name: string, after: string): SocketListener {
  const received: SyncAction[] = [];
  const closing = new AbortController();
  let cursor = after;
  let current: WebSocket | undefined;
  const openSocket = (url: string): WebSocket => (current = new WebSocket(url, { perMessageDeflate: false }));
  const client = new SyncClient({ ...target, openSocket, retry: RETRY });
  const listen = async (): Promise<void> => {
    for await (const event of client.follow({ after: cursor, signal: closing.signal })) {
      if (event.type !== 'delta') continue;
      received.push(...event.actions);
      cursor = event.lastSyncId;
    }
  };
  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      // What cannot be had is no finding: the cursor brings what was missed, or the comparison says so.
      await listen().catch(() => pause(RETRY_MS));
    }
  };
  const running = loop();
  return {
    name,
    received,
    at: () => BigInt(cursor),
    take: (upTo) => takeUpTo(received, upTo),
    cut: () => current?.terminate(),
    pause: () => current?.pause(),
    resume: () => current?.resume(),
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      current?.terminate();
      await running;
    },
  };
}

/** A poller: page after page by cursor. */
export function listenByPolling(target: Target, name: string, after: string, everyMs = 250): Listener {
  const received: SyncAction[] = [];
  const closing = new AbortController();
  const client = new SyncClient({ ...target, retry: RETRY });
  let cursor = after;
  const loop = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const page = await client.deltas(cursor, { limit: PAGE_LIMIT, signal: closing.signal }).catch(() => null);
      if (page !== null) {
        received.push(...page.actions);
        cursor = page.lastSyncId;
      }
      if (page?.hasMore !== true) await pause(everyMs);
    }
  };
  const running = loop();
  return {
    name,
    received,
    at: () => BigInt(cursor),
    take: (upTo) => takeUpTo(received, upTo),
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await running;
    },
  };
}

function takeUpTo(received: SyncAction[], upTo: bigint): SyncAction[] {
  // From the end: entries ascend, or the comparison that follows says so.
  const kept = received.findLastIndex(({ syncId }) => BigInt(syncId) <= upTo) + 1;
  return received.splice(0, kept);
}

export function readPage(target: Target, after: string): Promise<DeltasReply> {
  return new SyncClient(target).deltas(after, { limit: PAGE_LIMIT, deadlineMs: DEADLINE_MS });
}

export interface Snapshot {
  readonly lastSyncId: string;
  /** All groups of the caller, their own first. */
  readonly groups: readonly string[];
  readonly rows: readonly SnapshotRecord[];
}

/** A whole snapshot. One that ends without its last line is a fault: its reader could take it for whole. */
export async function readSnapshot(target: Target, onlyModels: readonly string[]): Promise<Snapshot> {
  const client = new SyncClient({ ...target, attemptMs: DEADLINE_MS });
  const snapshot = await client.bootstrap({ onlyModels: onlyModels.join(',') }, { deadlineMs: DEADLINE_MS });
  const rows = (await Array.fromAsync(snapshot.records)).flat();
  return { lastSyncId: snapshot.lastSyncId, groups: snapshot.subscribedSyncGroups, rows };
}
